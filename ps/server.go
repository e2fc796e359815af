package ps

import (
	"fmt"
	"sync/atomic"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
	"lockstep/trace"
)

// Rule changes a server's weights by their gradients; an optim.Optimizer satisfies it.
type Rule interface {
	// Step updates the weights [lo, hi) by their summed gradient g, multiplied by scale, at a
	// learning rate. The range that starts at 0 comes first in each step.
	Step(lo, hi int, g []float32, rate float64, scale float32)
	// Resume sets the number of steps done.
	Resume(steps int)
}

// Clip bounds gradients; an optim.Clip satisfies it.
type Clip interface {
	// Scale returns the factor that turns the summed gradient g into the clipped mean, where scale
	// turns it into the mean.
	Scale(g []float32, scale float32) float32
}

// ServerConfig configures a Server. All fields but Clip, State, Push, Pull and Track are
// required.
type ServerConfig struct {
	Post   *comm.Post
	Layout *Layout
	// Number is the server's number.
	Number int
	// Weights is the memory of the server's part, of Part.Len elements, which Rule updates; what
	// Post.Alloc returns is sent without a copy. Worker 0 sends its values (see Client.Load).
	Weights []float32
	// Rule is the optimizer of Weights. State holds its vectors, of the same length.
	Rule  Rule
	State [][]float32
	// Clip bounds the gradient's norm; it needs the whole gradient, so there must be one server.
	// Nil means no bound.
	Clip Clip
	// Add computes dst[i] += src[i].
	Add func(dst, src []float32)
	// Push is how gradients travel, Pull how weights do, without loss. Clients must have the same.
	Push, Pull gradsync.Wire
	// Track records a span per update; nil records nothing.
	Track *trace.Track
}

// Server has a part of the weights. It adds up the pieces of all workers along the tree of package
// shard, so that no bit depends on the number of workers or servers, updates its part and sends it
// back.
//
// A span is updated when its sum is complete, and not earlier than the spans before it. Rate and
// samples of the step come with the gradients. Nothing is allocated after the first step.
type Server struct {
	vault
	config ServerConfig
	part   *Part
	nodes  int         // pieces of all workers
	sums   []shard.Sum // of them

	events map[*comm.Mail]event
	done   chan *comm.Mail

	announced, leaving []*comm.Mail   // by worker
	pushed             [][]*comm.Mail // by span and piece
	pulled             [][]*comm.Mail // by span and worker
	acknowledged       []*comm.Mail
	rows, counts       *gathering // server 0's

	step      announcement
	numSteps  int       // announcements of this step
	missing   []int     // by span: pushes of this step to come
	unsent    []int     // by span: pulls of the step before still under way
	next      int       // the span to be updated next
	total     []float32 // with Clip: the sum of the gradients
	hasLeft   []bool    // by worker
	left      int       // workers that have left
	unsettled int       // acknowledgements under way

	sent, received atomic.Int64 // bytes
}

// event says which message a Mail is.
type event struct {
	kind, index, piece int
	isOutgoing         bool
}

// blockElems is how much of a span is summed and updated at once, so that it stays in a cache.
const blockElems = 1 << 15

// NewServer returns a server whose messages are registered with the post. Serve starts them.
func NewServer(c ServerConfig) (*Server, error) {
	s := &Server{config: c, events: map[*comm.Mail]event{}}
	if err := s.config.validate(); err != nil {
		return nil, fmt.Errorf("ps: server %d: %w", c.Number, err)
	}
	s.part = &c.Layout.Parts[c.Number]
	var nodes []shard.Node
	plan := c.Layout.config.Plan
	for w := range plan.Workers() {
		nodes = append(nodes, plan.Pieces(w)...)
	}
	s.sums, _ = shard.Reduce(nodes, plan.Shards())
	s.nodes = len(nodes)
	s.hasLeft = make([]bool, plan.Workers())
	s.missing, s.unsent = make([]int, len(s.part.Spans)), make([]int, len(s.part.Spans))
	if c.Clip != nil {
		s.total = make([]float32, s.part.Len)
	}
	if err := s.register(); err != nil {
		return nil, fmt.Errorf("ps: server %d: %w", c.Number, err)
	}
	return s, nil
}

func (c *ServerConfig) validate() error {
	l := c.Layout
	switch {
	case c.Number < 0 || c.Number >= len(l.Homes):
		return fmt.Errorf("want a number of %d servers", len(l.Homes))
	case c.Post.Size() != l.Ranks() || c.Post.Rank() != l.Homes[c.Number]:
		return fmt.Errorf("at rank %d of %d, want rank %d of %d", c.Post.Rank(), c.Post.Size(),
			l.Homes[c.Number], l.Ranks())
	case len(c.Weights) != l.Parts[c.Number].Len:
		return fmt.Errorf("%d weights, want %d", len(c.Weights), l.Parts[c.Number].Len)
	case c.Clip != nil && len(l.Homes) > 1:
		return fmt.Errorf("clipping needs the whole gradient, want 1 server instead of %d", len(l.Homes))
	}
	for _, v := range c.State {
		if len(v) != len(c.Weights) {
			return fmt.Errorf("state of %d elements, want %d", len(v), len(c.Weights))
		}
	}
	return checkWires(c.Push, c.Pull)
}

// checkWires returns an error for a wire that gradients or weights cannot take to and from servers.
func checkWires(push, pull gradsync.Wire) error {
	switch {
	case !push.IsServable():
		return fmt.Errorf("wire %q of gradients, want a codec or top-k", push)
	case pull.IsAuto() || pull.IsLossy():
		return fmt.Errorf("wire %q of weights, want one without loss", pull)
	}
	return nil
}

// Serve serves until every worker has left. It returns an error that wraps a *comm.PeerError if a
// rank is lost, and comm.ErrClosed if the post is closed meanwhile.
func (s *Server) Serve() error {
	s.startAll()
	for s.left < s.config.Layout.Workers || s.unsettled > 0 {
		m := <-s.done
		report := m.Report()
		s.sent.Add(report.Sent)
		s.received.Add(report.Received)
		err := m.Err()
		if err == nil {
			err = s.handle(m, s.events[m])
		}
		if err != nil {
			return fmt.Errorf("server %d: %w", s.config.Number, s.config.Layout.named(err))
		}
	}
	return nil
}

// handle acts on a message that was sent or received.
func (s *Server) handle(m *comm.Mail, e event) error {
	switch e.kind {
	case kindAnnounce:
		return s.announce(m, e.index)
	case kindPush:
		s.missing[e.index]--
		if s.missing[e.index] == s.nodes-1 {
			await(s.pushed[e.index])
		}
	case kindPull:
		s.unsent[e.index]--
	case kindRows:
		s.rows.handle(e)
		return nil
	case kindSum:
		s.counts.handle(e)
		return nil
	case kindLoad, kindCollect, kindVector:
		if err := s.transfer(m, e); err != nil {
			return err
		}
	case kindLeave:
		return s.leave(e)
	}
	return s.update()
}

// await begins the time-outs of messages that have not arrived.
func await(mails []*comm.Mail) {
	for _, m := range mails {
		m.Await()
	}
}

// announce takes worker w's announcement, which must be that of the others.
func (s *Server) announce(m *comm.Mail, w int) error {
	var got announcement
	got.read(m.Bytes())
	switch {
	case s.left > 0:
		return s.early(got)
	case s.numSteps == 0:
		s.step = got
		await(s.announced)
	case got != s.step:
		return fmt.Errorf("ps: worker %d announces step %d of %d samples at rate %v, want step %d of %d at "+
			"%v", w, got.step+1, got.samples, got.rate, s.step.step+1, s.step.samples, s.step.rate)
	}
	if got.samples < 1 {
		return fmt.Errorf("ps: worker %d announces a step of %d samples", w, got.samples)
	}
	s.numSteps++
	return s.update()
}

// early ends the run of the workers that begin a step after another one has left.
func (s *Server) early(a announcement) error {
	for w, m := range s.acknowledged {
		if s.hasLeft[w] {
			return s.config.Post.Lose(m.Peer(), fmt.Errorf("left before step %d", a.step+1))
		}
	}
	return nil
}

// update updates the spans whose sums are complete, in order, and sends them to the workers.
func (s *Server) update() error {
	if !s.isLoaded || s.numSteps < s.config.Layout.Workers {
		return nil
	}
	if s.config.Clip != nil {
		return s.updateClipped()
	}
	scale := 1 / float32(s.step.samples)
	for ; s.next < len(s.part.Spans) && s.isComplete(s.next); s.next++ {
		at, began := s.part.Spans[s.next].At, time.Now()
		s.sum(s.next, func(lo, hi int, g []float32) {
			s.config.Rule.Step(at+lo, at+hi, g, s.step.rate, scale)
		})
		s.config.Track.Span("sum and update", s.next, began, time.Now())
		s.send(s.next)
	}
	s.endStep()
	return nil
}

// updateClipped is update when the norm of all gradients is needed first.
func (s *Server) updateClipped() error {
	spans := s.part.Spans
	for ; s.next < len(spans) && s.isComplete(s.next); s.next++ {
		at, began := spans[s.next].At, time.Now()
		s.sum(s.next, func(lo, hi int, g []float32) { copy(s.total[at+lo:at+hi], g) })
		s.config.Track.Span("sum", s.next, began, time.Now())
	}
	if s.next < len(spans) {
		return nil
	}
	began := time.Now()
	scale := s.config.Clip.Scale(s.total, 1/float32(s.step.samples))
	s.config.Rule.Step(0, len(s.total), s.total, s.step.rate, scale)
	s.config.Track.Span("clip and update", s.step.step, began, time.Now())
	for i := range spans {
		s.send(i)
	}
	s.endStep()
	return nil
}

// isComplete reports whether span i can be updated.
func (s *Server) isComplete(i int) bool { return s.missing[i] == 0 && s.unsent[i] == 0 }

// sum adds up the pieces of span i in tree order and passes the sum to use, in blocks if the rule is
// elementwise. The sum overwrites pieces; those of a worker in this process are in its own memory.
func (s *Server) sum(i int, use func(lo, hi int, g []float32)) {
	n := s.part.Spans[i].Hi - s.part.Spans[i].Lo
	for lo := 0; lo < n; lo += blockElems {
		hi := min(lo+blockElems, n)
		for _, sum := range s.sums {
			s.config.Add(s.pushed[i][sum.Into].Vector()[lo:hi], s.pushed[i][sum.From].Vector()[lo:hi])
		}
		if !s.config.Layout.config.IsWhole {
			use(lo, hi, s.pushed[i][0].Vector()[lo:hi])
		}
	}
	if s.config.Layout.config.IsWhole {
		use(0, n, s.pushed[i][0].Vector())
	}
}

// send sends the new weights of span i and expects its next pushes.
func (s *Server) send(i int) {
	s.missing[i], s.unsent[i] = s.nodes, s.config.Layout.Workers
	for _, m := range s.pushed[i] {
		m.Start()
	}
	for _, m := range s.pulled[i] {
		m.StartAs(PullPriority(s.step.step, s.part.Spans[i].Bucket))
	}
}

// endStep expects the next step once all spans are updated.
func (s *Server) endStep() {
	if s.next < len(s.part.Spans) {
		return
	}
	s.next, s.numSteps = 0, 0
	for _, m := range s.announced {
		m.Start()
	}
}
