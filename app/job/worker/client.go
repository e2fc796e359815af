package worker

import (
	"errors"
	"sync"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/server"
	"lockstep/comm"
	"lockstep/ps"
	"lockstep/trace"
	"lockstep/train"
)

// newBlueprint returns the blueprint of a loop's network, and of its task.
func newBlueprint(l *train.Loop, t input.Task) server.Blueprint {
	v := l.Variables()
	return server.Blueprint{Samples: t.Train.Len(), Data: t.Hashes,
		Segments: segmentsOf(l), Order: v.Order, Len: len(v.Weights),
		RowLen: train.RowLen(len(v.State)), Params: l.Parameters()}
}

// served is a worker's part in a run with servers: its client, and the servers in its process.
type served struct {
	post    *comm.Post
	client  *ps.Client
	closing func() error   // of the client
	running sync.WaitGroup // servants
	hasLeft bool
	planned int64 // bytes of memory of the servers here
	apart   int64 // of those apart, which worker 0 knows

	mu  sync.Mutex
	err error // of servants
}

// joinServers makes the updater of a worker whose weights the servers update, and the servers in its process.
func (w *Worker) joinServers(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if w.Config.EvalOnly {
		return w.joinGroup(l, r)
	}
	s := &served{post: comm.NewPost(w.Mesh, server.PostConfig(w.Config, w.Generation))}
	w.served, w.links = s, s.post
	w.Beacon.Watch(s.post)
	b := newBlueprint(l, w.Task)
	layout, err := b.Layout(w.Config)
	if err != nil {
		return nil, err
	}
	servants, err := w.openServers(l, r, layout, b)
	if err != nil {
		return nil, err
	}
	wire := w.Config.GradientWire()
	u, err := w.joinClient(l, ps.ClientConfig{Post: s.post, Layout: layout, Pieces: l.Pieces(),
		Weights: l.Variables().Weights, Push: wire, Pull: server.PullWire(wire), Track: r.Track("exchange")})
	if err != nil {
		return nil, err
	}
	w.exchange = s.client
	if w.peers != nil {
		w.peers.Client = s.client
		if w.peers.Sharded, err = w.servedState(l); err != nil {
			return nil, err
		}
	}
	for _, p := range servants {
		s.running.Go(func() { s.serve(p, w) })
	}
	return u, nil
}

// openServers makes the servers of this worker's process. Rank 0 also tells those apart what they serve.
func (w *Worker) openServers(l *train.Loop, r *trace.Recorder, layout *ps.Layout,
	b server.Blueprint) ([]*server.Server,
	error) {
	s := w.served
	var servants []*server.Server
	for number, home := range layout.Homes {
		switch {
		case home == w.Rank:
			p, err := server.New(&w.Seat, s.post, layout, b, number, nil, r)
			if err != nil {
				return nil, err
			}
			servants = append(servants, p)
			s.planned += p.Planned
		case home >= w.Config.Workers && w.Rank == 0:
			state, err := w.stateVectors(l)
			if err == nil {
				err = b.Send(s.post, home)
			}
			if err != nil {
				return nil, err
			}
			s.apart += server.ReceivedBytes(w.Config, layout, w.plan,
				number) + server.ProcessBytes/w.Sharers() +
				4*int64(len(state)*layout.Parts[number].Len)
		}
	}
	return servants, nil
}

// joinClient makes the client of a worker, and its updater.
func (w *Worker) joinClient(l *train.Loop, c ps.ClientConfig) (train.Updater, error) {
	if w.Config.IsAsync() {
		client, err := ps.NewAsyncClient(c)
		if err != nil {
			return nil, err
		}
		w.served.client, w.served.closing = client.Client, client.Close
		halt := client.Halt
		w.halt.Store(&halt)
		return train.NewAsync(l, client)
	}
	client, err := ps.NewClient(c)
	if err != nil {
		return nil, err
	}
	w.served.client, w.served.closing = client, client.Close
	return train.NewServed(l, client)
}

// serve runs a server of this process to its end. If it fails, all messages of this rank do.
func (s *served) serve(p *server.Server, w *Worker) {
	err := p.Serve()
	p.Book.Close()
	if err != nil {
		s.mu.Lock()
		s.err = errors.Join(s.err, err)
		s.mu.Unlock()
		s.post.Shutdown()
		return
	}
	w.Tell(job.Notice{Server: p.Result(s.post, w.Host)})
}

// leave tells the servers that this worker is done, and waits until those of its process are.
func (s *served) leave() error {
	if s == nil || s.hasLeft || s.client == nil {
		return nil
	}
	s.hasLeft = true
	err := s.closing()
	s.running.Wait()
	return errors.Join(err, s.err)
}

// because returns the error of a server of this process in place of err, if err is only that the server has
// closed the links. It is to be called after close.
func (s *served) because(err error) error {
	if s == nil || s.err == nil || errors.Is(s.err, comm.ErrClosed) || !errors.Is(err, comm.ErrClosed) {
		return err
	}
	return s.err
}

// close frees the links. If the worker has not left, the servers and the other workers lose it.
func (s *served) close() error {
	err := s.post.Close()
	s.running.Wait()
	return err
}
