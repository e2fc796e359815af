package simulate

import (
	"slices"

	"lockstep/ps"
)

// queue holds the messages to one peer that have not begun.
type queue struct {
	mails  []mail
	isBusy bool
}

// mail is a message.
type mail struct {
	bytes    float64
	priority int
	arrive   func()
}

// mail sends a message after those of a higher priority, and those of its own that came before. Within a
// process it is there at once.
func (w *world) mail(from, to int, m mail) {
	if from == to {
		m.arrive()
		return
	}
	queues := w.threads[from].queues
	q := queues[to]
	if q == nil {
		q = &queue{}
		queues[to] = q
	}
	at, _ := slices.BinarySearchFunc(q.mails, m.priority, func(o mail, priority int) int {
		if o.priority >= priority {
			return -1
		}
		return 1
	})
	q.mails = slices.Insert(q.mails, at, m)
	if !q.isBusy {
		w.sendNext(from, to)
	}
}

// sendNext begins the next message to a peer.
func (w *world) sendNext(from, to int) {
	t := w.threads[from]
	q := t.queues[to]
	q.isBusy = len(q.mails) > 0
	if !q.isBusy {
		return
	}
	m := q.mails[0]
	q.mails = slices.Delete(q.mails, 0, 1)
	w.send(t, batch{to, 1, m.bytes}, 1, func() { w.sendNext(from, to) }, m.arrive)
}

// urgent is the priority of all that is neither gradients nor weights.
const urgent = 1 << 30

// service is what the servers of a run have in common.
type service struct {
	*world
	*course
	workers []*worker
	servers []*server
	rows    int // workers whose rows of the step are at server 0

	ledger  *ps.Ledger // of "ps-async"
	batches []int      // by worker: that it has borrowed
	pushed  []int      // by worker: spans of its batch that are at their servers
	applied []float64  // times of updates
}

// server has a part of the weights.
type server struct {
	*service
	home    int // rank
	spans   []ps.Span
	part    float64 // of all weights
	missing []int   // by span: pushes to come
	unsent  []int   // by span: pulls under way
	next    int     // span to be updated next
	step    int
	isBusy  bool
	orders  []order // of "ps-async"
}

// order is a decision of the ledger that a server carries out after those before.
type order struct {
	worker  *worker
	isApply bool // else its weights are sent
}

// found makes the servers of a layout.
func (w *world) found(c *course, layout *ps.Layout) *service {
	n := w.Plan.Workers()
	all := &service{world: w, course: c, batches: make([]int, n), pushed: make([]int, n)}
	for number, home := range layout.Homes {
		s := &server{service: all, home: home, spans: layout.Parts[number].Spans}
		for _, span := range s.spans {
			s.part += float64(span.Hi-span.Lo) / float64(c.elems)
			s.missing, s.unsent = append(s.missing, n), append(s.unsent, 0)
		}
		all.servers = append(all.servers, s)
	}
	return all
}

// until waits until something is so, of which poke tells.
func (w *worker) until(is func() bool) {
	for !is() {
		w.isWaiting = true
		w.spent.blocked += w.park()
	}
}

// poke lets a worker look again at what it waits for.
func (w *worker) poke() {
	if w.isWaiting {
		w.isWaiting = false
		w.wake(w.resume)
	}
}

// serve trains by servers that update the weights when the gradients of all workers have come.
func (w *worker) serve(s *service) {
	for step := range w.course.steps {
		w.begin(step)
		w.pass(func(bucket int) { w.until(func() bool { return w.away[bucket] == 0 }) },
			func() { s.share(w) },
			func(bucket int) { s.push(w, bucket, step) })
		w.until(func() bool { return w.hasRows })
		w.finish()
	}
}

// share sends a worker's rows to server 0, which sends those of all workers to all.
func (s *service) share(w *worker) {
	w.hasRows = s.rowElems == 0
	if w.hasRows {
		return
	}
	home, all := s.servers[0].home, 4*float64(s.rowElems)
	s.mail(w.rank, home, mail{all / float64(len(s.workers)), urgent, func() {
		if s.rows++; s.rows < len(s.workers) {
			return
		}
		s.rows = 0
		for _, to := range s.workers {
			s.mail(home, to.rank, mail{all, urgent, func() {
				to.hasRows = true
				to.poke()
			}})
		}
	}})
}

// push sends a worker's gradients of a bucket to the servers, and expects its weights.
func (s *service) push(w *worker, bucket, step int) {
	pieces := 1
	if s.ledger == nil {
		pieces = len(s.Plan.Pieces(w.rank))
	}
	for _, to := range s.servers {
		for i, span := range to.spans {
			if span.Bucket != bucket {
				continue
			}
			if s.ledger == nil {
				w.away[bucket]++
			}
			bytes := 4 * float64(span.Hi-span.Lo) * float64(pieces)
			s.compute(w.machine, bytes*s.Wire.Encode, 1, false, func() {
				arrive := func() { to.receive(w, i, bytes) }
				s.mail(w.rank, to.home, mail{bytes * s.Wire.Ratio, ps.PushPriority(step), arrive})
			})
		}
	}
}

// receive takes a worker's gradients of a span.
func (s *server) receive(w *worker, span int, bytes float64) {
	s.compute(s.threads[s.home].machine, bytes*s.Wire.Decode, 1, false, func() {
		if s.ledger != nil {
			s.arrive(w)
			return
		}
		s.missing[span]--
		s.advance()
	})
}

// advance updates the next span when all its gradients are there, and sends it to the workers.
func (s *server) advance() {
	i := s.next
	if s.isBusy || s.missing[i] > 0 || s.unsent[i] > 0 {
		return
	}
	s.isBusy = true
	n := float64(s.spans[i].Hi - s.spans[i].Lo)
	pieces := 0
	for rank := range s.workers {
		pieces += len(s.Plan.Pieces(rank))
	}
	seconds := 4*n*s.Add*float64(pieces-1) + s.Workers[0].Update*n/float64(s.elems)
	s.compute(s.threads[s.home].machine, seconds, s.Workers[0].Threads, true, func() {
		s.missing[i], s.unsent[i] = len(s.workers), len(s.workers)
		for _, w := range s.workers {
			s.pull(w, i, ps.PullPriority(s.step, s.spans[i].Bucket), func() {
				s.unsent[i]--
				s.advance()
			})
		}
		if s.next++; s.next == len(s.spans) {
			s.next, s.step = 0, s.step+1
		}
		s.isBusy = false
		s.advance()
	})
}

// pull sends a worker the new weights of a span.
func (s *server) pull(w *worker, span, priority int, sent func()) {
	bucket := s.spans[span].Bucket
	bytes := 4 * float64(s.spans[span].Hi-s.spans[span].Lo)
	s.mail(s.home, w.rank, mail{bytes, priority, func() {
		w.away[bucket]--
		w.poke()
		sent()
	}})
}

// borrow trains by servers that update the weights by every gradient, in an order that a ledger decides.
func (w *worker) borrow(s *service) {
	s.ask(w)
	for step := 0; ; step++ {
		w.until(func() bool { return w.isLent || w.isOver })
		if w.isOver {
			return
		}
		w.isLent = false
		w.begin(step)
		w.pass(func(bucket int) { w.until(func() bool { return w.away[bucket] == 0 }) },
			func() { s.ask(w) },
			func(bucket int) { s.push(w, bucket, step) })
		w.finish()
	}
}

// note is the size of a message that carries a few numbers.
const note = 64

// ask asks for the next batch.
func (s *service) ask(w *worker) {
	s.mail(w.rank, s.servers[0].home, mail{note, urgent, func() {
		s.ledger.Take(w.rank)
		s.decide()
	}})
}

// arrive notes a span of a worker's gradient, which is whole when all servers have theirs.
func (s *service) arrive(w *worker) {
	all := 0
	for _, server := range s.servers {
		all += len(server.spans)
	}
	if s.pushed[w.rank]++; s.pushed[w.rank] == all {
		s.pushed[w.rank] = 0
		s.ledger.Commit(w.rank, s.batches[w.rank])
		s.decide()
	}
}

// decide carries out what the ledger decides.
func (s *service) decide() {
	for d, ok := s.ledger.Decide(); ok; d, ok = s.ledger.Decide() {
		w := s.workers[d.Worker]
		switch d.Kind {
		case ps.Apply:
			s.applied = append(s.applied, s.now)
		case ps.Lend:
			s.batches[w.rank] = d.Batch
			for _, server := range s.servers {
				for _, span := range server.spans {
					w.away[span.Bucket]++
				}
			}
		case ps.Assign:
			continue
		}
		if d.Kind == ps.Lend || d.Kind == ps.Stop {
			s.mail(s.servers[0].home, w.rank, mail{note, urgent, func() {
				w.isLent, w.isOver = d.Kind == ps.Lend, d.Kind == ps.Stop
				w.poke()
			}})
		}
		for _, server := range s.servers {
			if d.Kind == ps.Lend || d.Kind == ps.Apply {
				server.orders = append(server.orders, order{w, d.Kind == ps.Apply})
				server.obey()
			}
		}
	}
}

// obey carries out the next orders.
func (s *server) obey() {
	for !s.isBusy && len(s.orders) > 0 {
		o := s.orders[0]
		s.orders = s.orders[1:]
		if o.isApply {
			s.isBusy = true
			p := s.Workers[0]
			s.compute(s.threads[s.home].machine, s.part*p.Update, p.Threads, true, func() {
				s.isBusy = false
				s.obey()
			})
			continue
		}
		for i, span := range s.spans {
			s.pull(o.worker, i, 1+span.Bucket, func() {})
		}
	}
}
