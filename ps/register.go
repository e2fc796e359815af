package ps

import (
	"cmp"
	"fmt"

	"lockstep/comm"
)

// register registers the server's messages.
func (s *Server) register() error {
	c, l := &s.config, s.config.Layout
	s.done = make(chan *comm.Mail, s.numMails())
	r := registry{post: c.Post, layout: l, server: c.Number, isServer: true, done: s.done, events: s.events}
	for w := range l.Workers {
		s.announced = append(s.announced, r.receive(kindAnnounce, w, w, 0,
			comm.Letter{Name: "announcement", Buf: make([]byte, announcementBytes)}))
		s.leaving = append(s.leaving, r.receive(kindLeave, w, w, 0,
			comm.Letter{Name: "leave", Buf: make([]byte, 1)}))
		s.acknowledged = append(s.acknowledged, r.send(kindLeave, w, w, 0,
			comm.Letter{Name: "leave", Buf: make([]byte, 1)}))
	}
	s.registerSpans(&r)
	if c.Number == 0 {
		s.registerGatherings(&r)
	}
	s.vault.register(&r, c)
	return r.err
}

// numMails bounds the messages that can be done and not handled.
func (s *Server) numMails() int {
	workers := s.config.Layout.Workers
	return len(s.part.Spans)*(s.nodes+workers) + 8*workers + 2*(1+len(s.config.State)) + 2
}

// registerSpans registers pushes and pulls. The pieces of a worker in this process are read where they
// are, unless a codec changes them.
func (s *Server) registerSpans(r *registry) {
	c, l := &s.config, s.config.Layout
	plan, codec := l.config.Plan, c.Push.Codec()
	weights := c.Pull.Codec()
	buffers := make([][]float32, s.nodes)
	for i, span := range s.part.Spans {
		name := fmt.Sprintf("%d of %d of server %d", i+1, len(s.part.Spans), c.Number)
		n := span.Hi - span.Lo
		var pushes, pulls []*comm.Mail
		for w := range l.Workers {
			isInPlace := w == c.Post.Rank() && (codec == nil || codec.Loss() == comm.Lossless)
			for piece := range plan.Pieces(w) {
				letter := comm.Letter{Name: "push " + name, Codec: codec}
				if !isInPlace {
					buffer := &buffers[len(pushes)]
					if *buffer == nil {
						*buffer = make([]float32, s.part.Len)
					}
					letter.Vector = (*buffer)[span.At:][:n]
				}
				pushes = append(pushes, r.receive(kindPush, w, i, piece, letter))
			}
			pulls = append(pulls, r.send(kindPull, w, i, 0, comm.Letter{Name: "pull " + name,
				Vector: c.Weights[span.At:][:n], Codec: weights}))
		}
		s.pushed, s.pulled = append(s.pushed, pushes), append(s.pulled, pulls)
		s.missing[i] = s.nodes
	}
}

// registerGatherings registers rows and counts, which pass through server 0.
func (s *Server) registerGatherings(r *registry) {
	l := s.config.Layout
	rows := make([]float32, l.numRows())
	counts := make([][]int64, l.Workers)
	s.rows, s.counts = &gathering{}, &gathering{}
	for w := range l.Workers {
		lo, hi := l.rowBounds(w)
		s.rows.in = append(s.rows.in, r.receive(kindRows, w, w, 0,
			comm.Letter{Name: "rows", Vector: rows[lo:hi]}))
		s.rows.out = append(s.rows.out, r.send(kindRows, w, w, 0,
			comm.Letter{Name: "rows of all", Vector: rows, Priority: urgent}))
		counts[w] = make([]int64, sumElems)
		s.counts.in = append(s.counts.in, r.receive(kindSum, w, w, 0,
			comm.Letter{Name: "counts", Buf: comm.Bytes(counts[w])}))
		s.counts.out = append(s.counts.out, r.send(kindSum, w, w, 0,
			comm.Letter{Name: "sums of counts", Buf: comm.Bytes(counts[0]), Priority: urgent}))
	}
	s.counts.combine = func() {
		for _, other := range counts[1:] {
			for i, n := range other {
				counts[0][i] += n
			}
		}
	}
}

// Priorities of messages that wait for one link: all pushes of a step, then its pulls, then the pushes
// of the next step. Of the pulls the one that the next forward pass reads first.
//
// If pulls went before pushes of their step, the server at the other end would wait for those pushes
// and have nothing to send. If pushes of the next step went before pulls, they would delay workers that
// cannot begin that step without these weights.
const (
	urgent   = 1 << 20
	perPhase = 1 << 20 // more than there are buckets
)

// PushPriority returns the priority of a step's pushes on their links: see comm.Letter.
func PushPriority(step int) int { return -2 * step * perPhase }

// PullPriority returns the priority of a step's pulls from a bucket.
func PullPriority(step, bucket int) int { return bucket - (2*step+1)*perPhase }

// registry registers the messages of one server, at one of their ends, and keeps the first error.
type registry struct {
	post     *comm.Post
	layout   *Layout
	server   int
	isServer bool            // it is the server's end
	done     chan *comm.Mail // nil: each has its own
	events   map[*comm.Mail]event
	err      error
}

func (r *registry) receive(kind, peer, index, piece int, l comm.Letter) *comm.Mail {
	return r.add(event{kind: kind, index: index, piece: piece}, peer, l, r.post.Receiver)
}

func (r *registry) send(kind, peer, index, piece int, l comm.Letter) *comm.Mail {
	l.Priority = cmp.Or(l.Priority, urgent)
	return r.add(event{kind: kind, index: index, piece: piece, isOutgoing: true}, peer, l, r.post.Sender)
}

func (r *registry) add(e event, peer int, l comm.Letter,
	register func(comm.Letter) (*comm.Mail, error)) *comm.Mail {
	l.IsIndirect = !r.isServer // servers wait for other workers
	l.Peer, l.Tag, l.Done = peer, tag(e.kind, r.server, e.index, e.piece), r.done
	if r.isServer == e.isOutgoing {
		l.Tag |= fromServer
	}
	m, err := register(l)
	if r.err == nil {
		r.err = err
	}
	if r.events != nil {
		r.events[m] = e
	}
	return m
}

// startAll starts every receiver.
func (s *Server) startAll() {
	s.vault.start()
	groups := [][]*comm.Mail{s.announced, s.leaving}
	groups = append(groups, s.pushed...)
	if s.rows != nil {
		groups = append(groups, s.rows.in, s.counts.in)
		s.rows.missing, s.counts.missing = len(s.rows.in), len(s.counts.in)
	}
	for _, mails := range groups {
		for _, m := range mails {
			m.Start()
		}
	}
}

// leave ends what is expected of worker w, and tells it so: from then on the end of its link is no
// loss.
func (s *Server) leave(e event) error {
	if e.isOutgoing {
		s.unsettled--
		return nil
	}
	for _, mails := range s.pushed {
		for _, m := range mails {
			if m.Peer() == e.index {
				m.Cancel()
			}
		}
	}
	s.announced[e.index].Cancel()
	if s.rows != nil {
		s.rows.leave(e.index)
		s.counts.leave(e.index)
	}
	if e.index == 0 {
		s.vault.cancel()
	}
	s.hasLeft[e.index] = true
	s.left++
	s.unsettled++
	s.acknowledged[e.index].Start()
	if s.numSteps > 0 {
		return s.early(s.step)
	}
	return nil
}

// gathering collects a message of every worker and then sends every worker the same one.
type gathering struct {
	in, out         []*comm.Mail // by worker
	missing, unsent int
	combine         func() // makes what is sent; nil: it is what was received
	isOver          bool   // a worker has left
}

// leave ends the gathering: it needs every worker. Worker w may have got its message and left before the
// others' are known to be sent, so the last of those must not expect another one of it.
func (g *gathering) leave(w int) {
	g.in[w].Cancel()
	g.isOver = true
}

// handle acts on a message that was received or sent.
func (g *gathering) handle(e event) {
	if e.isOutgoing {
		if g.unsent--; g.unsent == 0 && !g.isOver {
			g.missing = len(g.in)
			for _, m := range g.in {
				m.Start()
			}
		}
		return
	}
	if g.missing == len(g.in) {
		await(g.in)
	}
	if g.missing--; g.missing > 0 {
		return
	}
	if g.combine != nil {
		g.combine()
	}
	g.unsent = len(g.out)
	for _, m := range g.out {
		m.Start()
	}
}
