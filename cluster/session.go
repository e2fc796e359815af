package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/cluster/pass"
	"lockstep/comm"
	"lockstep/comm/shm"
	"lockstep/comm/tcp"
)

// ErrStopped is the cause of a session's cancelled context after the launcher asked to stop.
var ErrStopped = errors.New("cluster: stopped, as the launcher asked")

// ErrLauncherLost is the cause of a session's cancelled context after the launcher went away.
var ErrLauncherLost = errors.New("cluster: the launcher is gone")

const (
	dialTimeout    = 10 * time.Second
	maxUnheard     = 32 // unacknowledged reports; leaves room for messages that must not be dropped
	connectTimeout = time.Minute
	welcomeTimeout = 2 * time.Minute // the coordinator gives up earlier and names the missing ranks
	// lingerTime is how long a worker waits for its last message to arrive.
	lingerTime = time.Minute
	// verdictPatience is how long a worker that has lost a peer waits to hear why the run ends.
	verdictPatience = 5 * time.Second
)

// Session is a worker's membership in a running job.
type Session struct {
	// Welcome is the message that the worker received when all had joined.
	Welcome Welcome

	member   Member
	secret   []byte // of all workers
	key      pass.Key
	identity *pass.Identity // nil: data links are not encrypted
	listener *tcp.Listener  // for data links; nil if no peer is linked by TCP
	segment  *os.File       // the shared memory from the launcher, or nil
	streams  int            // of each link by TCP; 0: there is none
	line     *line
	unheard  atomic.Int64  // reports that the launcher has not acknowledged
	reports  atomic.Uint64 // number of reports
	last     atomic.Pointer[Progress]
	pid      int
	host     string
	pulser   *pulser       // nil on the launcher's host
	isFinal  atomic.Bool   // the last message is sent: the launcher may go
	quit     chan struct{} // closed by Close
	parts    chan message  // of what is fetched
	over     chan struct{} // closed when the connection has ended
	ended    *Ended        // set before, if the launcher has said how
	ctx      context.Context
	cancel   context.CancelCauseFunc
	reader   sync.WaitGroup
}

// Join joins the run over the inherited connection m.Control, or else at m.Address, and returns
// once all workers have joined. It fills in rank, world and listening address of the hello. The
// worker's data links use the interface by which it reaches the rendezvous. Errors are
// *RendezvousError.
func Join(ctx context.Context, m Member, h Hello) (*Session, error) {
	refuse := func(err error) (*Session, error) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &RendezvousError{Op: "join", Addr: m.place(), Err: err}
	}
	conn, err := m.open(ctx)
	if err != nil {
		return refuse(err)
	}
	interrupt := context.AfterFunc(ctx, func() { conn.Close() })
	defer interrupt()
	s := &Session{member: m, key: pass.NewKey(), line: m.lineTo(conn), over: make(chan struct{}),
		parts: make(chan message),
		quit:  make(chan struct{}), pid: h.PID, host: h.Host}
	if m.Segment != 0 {
		s.segment = os.NewFile(uintptr(m.Segment), "shared memory")
	}
	if err = s.listen(); err != nil {
		conn.Close()
		s.release()
		return refuse(err)
	}
	h.Rank, h.World, h.Generation, h.Key = m.Rank, m.World, m.Generation, s.key.Public()
	if s.listener != nil {
		h.Listen = s.listener.Addr()
	}
	if err = s.enter(h); err != nil {
		conn.Close()
		s.release()
		return refuse(err)
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if k := s.Welcome.Pulse; k != nil {
		if s.pulser, err = newPulser(conn.RemoteAddr(), m.Rank, k); err == nil {
			s.reader.Go(s.pulser.listen)
			s.reader.Go(s.pulse)
		} // else the control connection is all there is
	}
	s.reader.Go(s.follow)
	return s, nil
}

// pulse sends pulses until Close, and ends the session when the launcher has been silent for too long.
func (s *Session) pulse() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		deaf := s.pulser.beat()
		if deaf >= s.Welcome.Pulse.Silence && !s.isFinal.Load() && s.ctx.Err() == nil {
			e := &CutOffError{Rank: s.member.Rank, PID: s.pid, Host: s.host, Silence: deaf,
				Launcher: s.line.conn.RemoteAddr().String()}
			if p := s.last.Load(); p != nil {
				e.Step, e.Phase, e.Wait = p.Step, p.Phase, p.Wait
			}
			s.cancel(e)
		}
		select {
		case <-s.quit:
			return
		case <-tick.C:
		}
	}
}

// listen listens for peers if some are linked by TCP: the worker is not alone, and shared memory
// does not link all of them.
func (s *Session) listen() error {
	if s.member.World == 1 {
		return nil
	}
	if s.segment != nil {
		if ranks, err := shm.Ranks(s.segment); err != nil || ranks == s.member.World {
			return err
		}
	}
	near := s.member.Address
	if s.member.Socket != "" {
		near = "127.0.0.1:0"
	} else if s.member.Control == 0 {
		near = s.line.conn.LocalAddr().String()
	}
	host, _, err := net.SplitHostPort(near)
	if err != nil {
		return err
	}
	if s.member.Interface != "" {
		host = s.member.Interface
	}
	s.listener, err = tcp.Listen(net.JoinHostPort(host, "0"))
	return err
}

// release closes what is no longer needed once all links are made.
func (s *Session) release() {
	if s.listener != nil {
		s.listener.Close()
	}
	if s.segment != nil {
		s.segment.Close()
	}
}

// Generation returns how often the job was started before, which all frames carry.
func (s *Session) Generation() uint32 { return s.member.Generation }

// Topology returns which workers share a host.
func (s *Session) Topology() comm.Topology { return comm.NewTopology(s.Welcome.Hosts) }

// Connect links this worker with all others and returns its mesh: by the launcher's shared memory
// with the workers of its host, if there is any, and by TCP with the others. It may be called once.
// Errors are *RendezvousError.
func (s *Session) Connect(ctx context.Context) (comm.Mesh, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	mesh, err := s.link(ctx)
	if s.listener != nil {
		s.listener.Close() // nobody else is to come
	}
	if err != nil {
		return nil, &RendezvousError{Op: "link", Addr: fmt.Sprintf("rank %d", s.member.Rank), Err: err}
	}
	return mesh, nil
}

// Streams returns the number of connections of each link by TCP; 0 if Connect has made no such link.
func (s *Session) Streams() int { return s.streams }

func (s *Session) link(ctx context.Context) (comm.Mesh, error) {
	rank, topology := s.member.Rank, s.Topology()
	addresses, peers := slices.Clone(s.Welcome.Addresses), topology.Peers(rank)
	inside, err := s.share(ctx, slices.Index(peers, rank), len(peers))
	if err != nil || inside != nil && len(peers) == len(addresses) {
		return inside, err
	}
	if inside != nil {
		for _, peer := range peers {
			addresses[peer] = ""
		}
	}
	config := tcp.Config{Rank: rank, Addrs: addresses, Token: s.secret, Generation: s.member.Generation,
		Streams: s.Welcome.Streams, SocketBuffer: s.Welcome.SocketBuffer}
	if s.identity != nil {
		config.TLS = s.identity.TLS
	}
	s.streams = max(1, s.Welcome.Streams)
	outside, err := tcp.Connect(ctx, s.listener, config)
	switch {
	case inside == nil:
		return outside, err
	case err != nil:
		inside.Shutdown()
		return nil, errors.Join(err, inside.Close())
	}
	return comm.Combine(inside, outside, topology), nil
}

// share links the ranks of this host, of which this one has number index, by the launcher's shared
// memory. The mesh is nil if the segment is for another number of ranks.
func (s *Session) share(ctx context.Context, index, ranks int) (comm.Mesh, error) {
	if s.segment == nil {
		return nil, nil
	}
	if n, err := shm.Ranks(s.segment); err != nil || n != ranks {
		return nil, err
	}
	return shm.Connect(ctx, s.segment, index)
}

// enter sends hello and takes the welcome.
func (s *Session) enter(h Hello) (err error) {
	patience := welcomeTimeout
	if s.member.IsGuest || s.member.Control != 0 {
		patience = 0 // rank 0 may have to download data first, or be stopped; its end is noticed
	}
	s.Welcome, err = enter(s.line, h, patience)
	s.secret, s.Welcome.Secret = s.Welcome.Secret, nil
	if c := s.Welcome.Certificate; err == nil && c != nil {
		s.identity, err = s.key.Identity(c)
		s.Welcome.Certificate = nil
	}
	if err != nil || !s.member.IsGuest {
		return err
	}
	s.member.World = len(s.Welcome.Addresses) // with the servers
	if s.Welcome.Segment != "" {
		s.segment, err = os.OpenFile(s.Welcome.Segment, os.O_RDWR, 0)
	}
	return err
}

// enter sends hello and waits until all workers have joined, for any time if patience is 0.
func enter(l *line, h Hello, patience time.Duration) (Welcome, error) {
	err := l.send(message{Hello: &h})
	if err == nil && patience > 0 {
		err = l.conn.SetReadDeadline(time.Now().Add(patience))
	}
	if err != nil {
		return Welcome{}, err
	}
	m, err := l.receive()
	switch {
	case err != nil:
		return Welcome{}, fmt.Errorf("wait for the other workers: %w", err)
	case m.Ended != nil:
		return Welcome{}, &EndedError{m.Ended.Status}
	case m.Refused != "":
		return Welcome{}, fmt.Errorf("refused: %s", m.Refused)
	case m.Welcome == nil:
		return Welcome{}, errors.New("unexpected answer to hello")
	}
	return *m.Welcome, l.conn.SetDeadline(time.Time{})
}

// follow receives the launcher's messages until the connection ends.
func (s *Session) follow() {
	defer close(s.over)
	for {
		m, err := s.line.receive()
		if err != nil {
			s.cancel(ErrLauncherLost)
			return
		}
		if s.pulser != nil {
			s.pulser.live()
		}
		if m.Part != nil || m.Fetched != nil {
			s.receivePart(m)
		}
		if m.Dump {
			dumpStacks()
		}
		if m.Verdict != nil {
			s.cancel(&VerdictError{Worker: *m.Verdict})
		}
		if m.Ended != nil {
			s.ended = m.Ended
			s.cancel(ErrStopped)
			return
		}
		if m.Heard {
			s.unheard.Add(-1)
		}
		if m.Stop {
			s.cancel(ErrStopped)
		}
	}
}

// Context is cancelled when the launcher asks to stop (cause ErrStopped), is gone (cause
// ErrLauncherLost) or silent (cause *CutOffError), or has ended the run because of a worker (cause
// *VerdictError), or when the context of Join is cancelled.
func (s *Session) Context() context.Context { return s.ctx }

// Report sends the worker's progress. While the launcher does not read, because it or its terminal
// is stopped, reports are dropped.
func (s *Session) Report(p Progress) error {
	p.Number = s.reports.Add(1)
	s.last.Store(&p)
	if s.pulser != nil {
		s.pulser.show(p)
	}
	if s.unheard.Load() >= maxUnheard {
		return nil
	}
	s.unheard.Add(1)
	return s.line.send(message{Progress: &p})
}

// Tell sends an event, encoded as JSON. The launcher receives a worker's events in order, and all
// of them before its result. If one cannot be sent, the session's context is cancelled.
func (s *Session) Tell(event any) {
	text, err := json.Marshal(event)
	if err != nil {
		s.cancel(fmt.Errorf("cluster: encode event: %w", err))
	} else if err := s.line.send(message{Event: text}); err != nil {
		s.cancel(fmt.Errorf("%w: %w", ErrLauncherLost, err))
	}
}

// Done sends the worker's result, encoded as JSON; nothing may be sent after it.
func (s *Session) Done(result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("cluster: encode result: %w", err)
	}
	s.finish()
	return s.line.send(message{Result: text})
}

// Ask tells the launcher that a signal has asked this process to stop, which concerns all workers.
func (s *Session) Ask() { s.line.send(message{Asked: true}) } // an error means that the run has ended

// Over is closed when the launcher has said how the job ended or is gone. Only a worker that another
// launcher has started is told.
func (s *Session) Over() <-chan struct{} { return s.over }

// Status waits for Over and returns the exit status of the job. It fails with ErrLauncherLost.
func (s *Session) Status() (int, error) {
	<-s.over
	if s.ended == nil {
		return 0, ErrLauncherLost
	}
	return s.ended.Status, nil
}

// dumpStacks writes the stacks of all goroutines to the standard error.
func dumpStacks() {
	stacks := make([]byte, 1<<20)
	os.Stderr.Write(stacks[:runtime.Stack(stacks, true)]) // best effort
}

// Fail sends the reason why the worker cannot continue, err in f's words; nothing may be sent after
// it. It returns the error with which the worker ends: err, or if the worker has only noticed that another
// was lost (f.Noticed), the launcher's *VerdictError about that, for which it waits a few seconds.
func (s *Session) Fail(f Failure, err error) error {
	if sent := s.line.send(message{Failure: &f}); sent != nil {
		err = errors.Join(err, sent)
	}
	if !f.Noticed {
		s.finish()
		return err
	}
	select {
	case <-s.ctx.Done():
	case <-time.After(verdictPatience):
	}
	verdict := (*VerdictError)(nil)
	if cause := context.Cause(s.ctx); errors.As(cause, &verdict) {
		return cause
	}
	return err
}

// finish notes that the last message is sent. Until it has arrived, pulses say that no progress is due.
func (s *Session) finish() {
	s.isFinal.Store(true)
	if last := s.last.Load(); last != nil && s.pulser != nil {
		p := *last
		p.Number, p.Limit, p.Wait = s.reports.Add(1), 0, nil
		s.pulser.show(p)
	}
}

// linger returns when the launcher has read all that was sent. A connection that is closed while
// acknowledgements are on their way to it is reset, and what was sent and lost is not sent again.
func (s *Session) linger() {
	half, ok := s.line.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	select {
	case <-s.over:
	case <-time.After(lingerTime):
	}
}

// Close leaves the job and waits for the session's goroutine.
func (s *Session) Close() {
	s.release()
	if s.isFinal.Load() && s.pulser != nil {
		s.linger()
	}
	close(s.quit)
	s.line.conn.Close()
	if s.pulser != nil {
		s.pulser.conn.Close()
	}
	s.reader.Wait()
	s.cancel(context.Canceled)
}
