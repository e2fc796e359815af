package ps

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/comm"
	"lockstep/shard"
)

// AsyncConfig configures an AsyncServer. Clip of the ServerConfig must be nil, and Layout is that of
// AsyncLayout.
type AsyncConfig struct {
	ServerConfig
	// Ledger decides the order. Its From is replaced by the steps of Client.Load.
	Ledger LedgerConfig
	// DividesRate divides the learning rate of an update by its staleness, if that is above 1 (after
	// Zhang et al. 2016, "Staleness-aware Async-SGD for Distributed Deep Learning").
	DividesRate bool
	// OnLoad is called by server 0 with the number of updates done, before the first OnUpdate; nil: not.
	OnLoad func(done int)
	// OnUpdate is called by server 0 with every update and every dropped gradient, in order; nil:
	// not.
	OnUpdate func(Update)
	// OnLoss is called by server 0 with every worker that is lost; nil: not.
	OnLoss func(worker int)
}

// AsyncServer has a part of the weights and updates it by whole gradients, one after another, in
// the order that the ledger of server 0 decides. Workers without a server, other than worker 0, may
// be lost: the ledger lends their batches to others.
type AsyncServer struct {
	vault
	config AsyncConfig
	part   *Part

	events map[*comm.Mail]event
	done   chan *comm.Mail

	pushed    [][]*comm.Mail // by worker and span
	pulled    [][]*comm.Mail // by worker and span
	copies    [][]float32    // of the weights, by worker
	missing   []int          // by worker: pushes to come
	unsent    []int          // by worker: pulls under way
	lent      [][]int        // by worker: batches whose gradients are to come, in order
	held      map[loanKey][][]float32
	free      [][][]float32 // memory of gradients of a replay
	orders    []order       // to be carried out
	isLost    []bool        // by worker
	conductor *conductor    // server 0's
	order     *comm.Mail    // of the others, likewise
	arrival   *comm.Mail
	arrivedAt []byte
	toFirst   outbox // to server 0

	leaving, acknowledged []*comm.Mail // by worker
	left, unsettled       int
	isLeaving             bool // server 0 is told that no worker is left
	isDismissed           bool // it has answered
	isDone                bool
}

// AsyncLayout returns the layout of asynchronous workers, each of which pushes the whole gradient
// of a batch in one piece. The plan of c is that of the shards of a batch, and RowLen the length of a
// shard's row.
func AsyncLayout(c LayoutConfig) (*Layout, error) {
	whole, err := shard.Cut(c.Plan.Workers(), c.Plan.Workers())
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	c.RowLen *= c.Plan.Shards()
	c.Plan = whole
	return NewLayout(c)
}

// MayLose reports whether an asynchronous run can go on without a rank: it is a worker other than 0,
// which evaluates and saves, and has no server.
func (l *Layout) MayLose(rank int) bool {
	return rank > 0 && rank < l.Workers && !slices.Contains(l.Homes, rank)
}

// NewAsyncServer returns a server whose messages are registered with the post. Serve starts them.
func NewAsyncServer(c AsyncConfig) (*AsyncServer, error) {
	s := &AsyncServer{config: c, events: map[*comm.Mail]event{}, held: map[loanKey][][]float32{}}
	if err := c.ServerConfig.validate(); err != nil {
		return nil, fmt.Errorf("ps: server %d: %w", c.Number, err)
	}
	if c.Clip != nil {
		return nil, fmt.Errorf("ps: server %d: clipping of asynchronous updates", c.Number)
	}
	s.part = &c.Layout.Parts[c.Number]
	if err := s.register(); err != nil {
		return nil, fmt.Errorf("ps: server %d: %w", c.Number, err)
	}
	return s, nil
}

// register registers the server's messages.
func (s *AsyncServer) register() error {
	c, l := &s.config, s.config.Layout
	n := l.Workers
	s.done = make(chan *comm.Mail, 2*n*len(s.part.Spans)+8*n+2*len(l.Homes)+2*len(c.State)+6)
	r := &registry{post: c.Post, layout: l, server: c.Number, isServer: true, done: s.done,
		events: s.events}
	s.missing, s.unsent, s.isLost = make([]int, n), make([]int, n), make([]bool, n)
	s.lent = make([][]int, n)
	for w := range n {
		s.registerWorker(r, w)
	}
	s.vault.register(r, &c.ServerConfig)
	if c.Number > 0 {
		r.server, r.isServer = 0, false // to server 0 it is like a worker
		s.arrivedAt = make([]byte, arrivalBytes)
		s.order = r.receive(kindOrder, l.Homes[0], c.Number, 0,
			comm.Letter{Name: "order", Buf: make([]byte, orderBytes)})
		s.arrival = r.send(kindArrival, l.Homes[0], c.Number, 0,
			comm.Letter{Name: "arrival", Buf: s.arrivedAt})
		return r.err
	}
	var err error
	s.conductor, err = newConductor(s, r)
	return errors.Join(err, r.err)
}

// registerWorker registers the messages of one worker. Its gradients are read where they are if it
// is in this process, unless a codec changes them, or a replay must keep several of them.
func (s *AsyncServer) registerWorker(r *registry, w int) {
	c := &s.config
	codec := c.Push.Codec()
	isInPlace := w == c.Post.Rank() && c.Ledger.Replay == nil &&
		(codec == nil || codec.Loss() == comm.Lossless)
	gradient, weights := []float32(nil), make([]float32, s.part.Len)
	if !isInPlace {
		gradient = make([]float32, s.part.Len)
	}
	s.copies = append(s.copies, weights)
	var pushes, pulls []*comm.Mail
	for i, span := range s.part.Spans {
		name := fmt.Sprintf("%d of %d of server %d", i+1, len(s.part.Spans), c.Number)
		n := span.Hi - span.Lo
		letter := comm.Letter{Name: "push " + name, Codec: codec}
		if !isInPlace {
			letter.Vector = gradient[span.At:][:n]
		}
		pushes = append(pushes, r.receive(kindPush, w, i, 0, letter))
		pulls = append(pulls, r.send(kindPull, w, i, 0, comm.Letter{Name: "pull " + name,
			Vector: weights[span.At:][:n], Codec: c.Pull.Codec(), Priority: 1 + span.Bucket}))
		s.events[pushes[i]] = event{kind: kindPush, index: i, piece: w}
		s.events[pulls[i]] = event{kind: kindPull, index: i, piece: w, isOutgoing: true}
	}
	s.pushed, s.pulled = append(s.pushed, pushes), append(s.pulled, pulls)
	s.leaving = append(s.leaving, r.receive(kindLeave, w, w, 0,
		comm.Letter{Name: "leave", Buf: make([]byte, 1)}))
	s.acknowledged = append(s.acknowledged, r.send(kindLeave, w, w, 0,
		comm.Letter{Name: "leave", Buf: make([]byte, 1)}))
}

// Serve serves until every worker has left or is lost. It returns an error that wraps a
// *comm.PeerError if a rank is lost that the run needs, and comm.ErrClosed if the post is closed
// meanwhile.
func (s *AsyncServer) Serve() error {
	s.start()
	for !s.isDone {
		m := <-s.done
		err := s.act(m, m.Err())
		if err == nil {
			err = s.carryOut()
		}
		if err != nil {
			return fmt.Errorf("server %d: %w", s.config.Number, s.config.Layout.named(err))
		}
		s.finish()
	}
	return nil
}

// finish ends a server without workers. Server 0 is the last: it hears of the others that they have
// none, and then tells them that it knows, so that nobody expects more from anybody.
func (s *AsyncServer) finish() {
	switch {
	case s.left < s.config.Layout.Workers || s.unsettled > 0:
	case s.conductor != nil:
		s.isDone = s.conductor.finish()
	case !s.isLeaving:
		s.isLeaving = true
		s.toFirst.add(s.arrival, func() { goodbye.put(s.arrivedAt) })
	default:
		s.isDone = s.isDismissed && !s.toFirst.isBusy
	}
}

// start starts all receivers.
func (s *AsyncServer) start() {
	for w := range s.pushed {
		s.expect(w)
		s.leaving[w].Start()
	}
	s.vault.start()
	if s.conductor != nil {
		s.conductor.start()
	} else {
		s.order.Start()
	}
}

// expect starts the receivers of a worker's next gradient.
func (s *AsyncServer) expect(w int) {
	s.missing[w] = len(s.pushed[w])
	for _, m := range s.pushed[w] {
		m.Start()
	}
}

// act acts on a message that was sent or received, or that a lost peer has failed.
func (s *AsyncServer) act(m *comm.Mail, err error) error {
	var lost *comm.PeerError
	if errors.As(err, &lost) && s.config.Layout.MayLose(lost.Rank) {
		return s.lose(lost.Rank)
	}
	if err != nil {
		return err
	}
	switch e := s.events[m]; e.kind {
	case kindPush:
		if s.missing[e.piece]--; s.missing[e.piece] == 0 {
			return s.hold(e.piece)
		}
	case kindPull:
		s.unsent[e.piece]--
	case kindLoad, kindCollect, kindVector:
		wasLoaded := s.isLoaded
		if err := s.transfer(m, e); err != nil || wasLoaded || !s.isLoaded || s.conductor == nil {
			return err
		}
		return s.conductor.begin(s.steps)
	case kindLeave:
		s.leave(e)
	case kindArrival:
		if s.conductor == nil {
			s.toFirst.sent()
			return nil
		}
		return s.conductor.handle(m, e)
	case kindOrder:
		if s.conductor == nil {
			s.obey(m)
			return nil
		}
		return s.conductor.handle(m, e)
	default:
		return s.conductor.handle(m, e)
	}
	return nil
}

// obey takes an order from server 0.
func (s *AsyncServer) obey(m *comm.Mail) {
	var o order
	o.read(m.Bytes())
	if s.isDismissed = o.kind == dismiss; !s.isDismissed {
		s.orders = append(s.orders, o)
		m.Start()
	}
}

// hold takes a gradient that is complete, and tells server 0.
func (s *AsyncServer) hold(w int) error {
	if len(s.lent[w]) == 0 {
		return fmt.Errorf("ps: a gradient of worker %d, which has no batch", w)
	}
	k := loanKey{w, s.lent[w][0]}
	s.lent[w] = s.lent[w][1:]
	var g [][]float32
	for _, m := range s.pushed[w] {
		g = append(g, m.Vector())
	}
	if s.config.Ledger.Replay != nil { // the worker may push the next one before this is applied
		g = s.keep(g)
		s.expect(w)
	}
	s.held[k] = g
	if s.conductor != nil {
		s.conductor.arrived(k)
		return s.conductor.decide()
	}
	s.toFirst.add(s.arrival, func() { k.put(s.arrivedAt) })
	return nil
}

// keep copies a gradient.
func (s *AsyncServer) keep(g [][]float32) [][]float32 {
	var kept [][]float32
	if n := len(s.free); n > 0 {
		kept, s.free = s.free[n-1], s.free[:n-1]
	} else {
		for _, part := range g {
			kept = append(kept, make([]float32, len(part)))
		}
	}
	for i, part := range g {
		copy(kept[i], part)
	}
	return kept
}

// release gives up a gradient and expects the worker's next one.
func (s *AsyncServer) release(k loanKey) {
	g := s.held[k]
	delete(s.held, k)
	if s.config.Ledger.Replay != nil {
		s.free = append(s.free, g)
	} else if !s.isLost[k.worker] {
		s.expect(k.worker)
	}
}

// carryOut carries out the ledger's decisions, in order, as far as it can.
func (s *AsyncServer) carryOut() error {
	done := 0
	for done < len(s.orders) && s.isReady(s.orders[done]) {
		o := s.orders[done]
		done++
		k := loanKey{o.worker, o.batch}
		switch o.kind {
		case Lend:
			s.lent[o.worker] = append(s.lent[o.worker], o.batch)
			s.send(o.worker)
		case Stop, View:
			s.send(o.worker)
		case Apply:
			scale, began := 1/float32(o.samples), time.Now()
			for i, g := range s.held[k] {
				at := s.part.Spans[i].At
				s.config.Rule.Step(at, at+len(g), g, o.rate, scale)
			}
			s.config.Track.Span("update", o.batch, began, time.Now())
			s.release(k)
		case Drop:
			s.release(k)
		}
	}
	s.orders = append(s.orders[:0], s.orders[done:]...)
	return nil
}

// isReady reports whether an order can be carried out: weights can be sent when they are loaded and
// the worker has the ones before.
func (s *AsyncServer) isReady(o order) bool {
	isSending := o.kind == Lend || o.kind == Stop || o.kind == View
	return !isSending || s.isLost[o.worker] || s.isLoaded && s.unsent[o.worker] == 0
}

// send sends the weights to a worker.
func (s *AsyncServer) send(w int) {
	if s.isLost[w] {
		return
	}
	copy(s.copies[w], s.config.Weights)
	s.unsent[w] = len(s.pulled[w])
	for _, m := range s.pulled[w] {
		m.Start()
	}
}

// lose goes on without a worker.
func (s *AsyncServer) lose(w int) error {
	if s.isLost[w] {
		return nil
	}
	s.isLost[w] = true
	s.left++
	s.lent[w] = nil
	if s.conductor == nil {
		return nil
	}
	if s.config.OnLoss != nil {
		s.config.OnLoss(w)
	}
	return s.conductor.lose(w)
}

// leave ends what is expected of a worker, and tells it so.
func (s *AsyncServer) leave(e event) {
	if e.isOutgoing {
		s.unsettled--
		return
	}
	for _, m := range s.pushed[e.index] {
		m.Cancel()
	}
	if s.conductor != nil {
		s.conductor.leave(e.index)
	}
	if e.index == 0 {
		s.vault.cancel()
	}
	s.left++
	s.unsettled++
	s.acknowledged[e.index].Start()
}
