package job

import (
	"errors"
	"sync"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/trace"
	"lockstep/train"
)

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
func (w *worker) joinServers(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if w.config.EvalOnly {
		return w.joinGroup(l, r)
	}
	s := &served{post: comm.NewPost(w.mesh, postConfig(w.config, w.generation))}
	w.served, w.links = s, s.post
	w.beacon.watch(s.post)
	b := newBlueprint(l, w.task)
	layout, err := b.layout(w.config)
	if err != nil {
		return nil, err
	}
	servants, err := w.openServers(l, r, layout, b)
	if err != nil {
		return nil, err
	}
	wire := w.config.GradientWire()
	u, err := w.joinClient(l, ps.ClientConfig{Post: s.post, Layout: layout, Pieces: l.Pieces(),
		Weights: l.Variables().Weights, Push: wire, Pull: pullWire(wire), Track: r.Track("exchange")})
	if err != nil {
		return nil, err
	}
	w.exchange = s.client
	if w.peers != nil {
		w.peers.client = s.client
		if w.peers.sharded, err = w.servedState(l); err != nil {
			return nil, err
		}
	}
	for _, p := range servants {
		s.running.Go(func() { s.serve(p, w) })
	}
	return u, nil
}

// openServers makes the servers of this worker's process. Rank 0 also tells those apart what they serve.
func (w *worker) openServers(l *train.Loop, r *trace.Recorder, layout *ps.Layout, b blueprint) ([]*servant,
	error) {
	s := w.served
	var servants []*servant
	for number, home := range layout.Homes {
		switch {
		case home == w.rank:
			p, err := newServant(w.config, s.post, layout, b, number, nil,
				outlet{w.dir, w.tell, w.lose}, r)
			if err != nil {
				return nil, err
			}
			servants = append(servants, p)
			s.planned += p.planned
		case home >= w.config.Workers && w.rank == 0:
			state, err := w.stateVectors(l)
			if err == nil {
				err = b.send(s.post, home)
			}
			if err != nil {
				return nil, err
			}
			s.apart += receivedBytes(w.config, layout, w.plan, number) + processBytes/w.sharers() +
				4*int64(len(state)*layout.Parts[number].Len)
		}
	}
	return servants, nil
}

// joinClient makes the client of a worker, and its updater.
func (w *worker) joinClient(l *train.Loop, c ps.ClientConfig) (train.Updater, error) {
	if w.config.IsAsync() {
		return w.joinAsync(l, c)
	}
	client, err := ps.NewClient(c)
	if err != nil {
		return nil, err
	}
	w.served.client, w.served.closing = client, client.Close
	return train.NewServed(l, client)
}

// pullWire returns the wire of weights: that of gradients if it loses nothing, else none.
func pullWire(gradients gradsync.Wire) gradsync.Wire {
	if gradients.IsLossy() {
		return gradsync.Wire{}
	}
	return gradients
}

// serve runs a server of this process to its end. If it fails, all messages of this rank do.
func (s *served) serve(p *servant, w *worker) {
	err := p.Serve()
	p.book.close()
	if err != nil {
		s.mu.Lock()
		s.err = errors.Join(s.err, err)
		s.mu.Unlock()
		s.post.Shutdown()
		return
	}
	stat := p.result(s.post, w.host)
	w.tell(notice{Server: &stat})
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
