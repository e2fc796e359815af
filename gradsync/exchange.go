package gradsync

import (
	"cmp"
	"fmt"
	"time"

	"lockstep/comm"
	"lockstep/shard"
	"lockstep/trace"
)

// atEnd is a Strategy whose exchange is complete at the end of the step.
type atEnd struct{ *exchange }

func (s atEnd) Wait() error { return s.wait() }

// exchange is the base of all strategies: ranges of the gradient, each reduced by one prepared
// collective, either as soon as it is final (eager) or one after another in wait.
type exchange struct {
	config  Config
	op      comm.Op // the collective of each bucket
	isEager bool

	buckets  []Bucket
	handles  []*comm.Handle
	plain    []int64 // by bucket: bytes that this rank would send uncompressed
	bucketOf []int   // by parameter
	missing  []int   // by bucket: parameters not ready yet in this step
	compressor
	exposed comm.Split              // but for what the compressor spent
	waiting time.Time               // when training began to wait in this step
	onBook  func(int, *comm.Handle) // s.bookLate, bound once so that a step does not allocate
	order   []int                   // the order in which buckets start
	started int                     // buckets started in this step

	rows   []rowsHandle
	shared *rowsHandle // this step's, or nil
}

// rowsHandle is a prepared all-gather of one slice of rows.
type rowsHandle struct {
	first  *float32
	len    int
	handle *comm.Handle
}

// Cut returns the buckets that "ddp" makes of parameters that become final in an order:
// consecutive ones of about bucketBytes bytes, where 0 means DefaultBucketBytes. See Config for
// segments and order.
func Cut(segments []Segment, order []int, bucketBytes int) []Bucket {
	bucketBytes = cmp.Or(bucketBytes, DefaultBucketBytes)
	return cut(segments, order, bucketBytes, min(edgeBytes, bucketBytes/4))
}

// Buckets returns the buckets of a strategy: those of Cut if its exchange overlaps with backward, else one
// for each parameter.
func Buckets(strategy string, segments []Segment, order []int, bucketBytes int) []Bucket {
	if strategy == DDP {
		return Cut(segments, order, bucketBytes)
	}
	return cut(segments, order, 0, 0)
}

// cut returns buckets of consecutive parameters up to limit bytes, or up to edge bytes for the
// first. Parameters at the end that fit in edge bytes together form a bucket of their own.
func cut(segments []Segment, order []int, limit, edge int) []Bucket {
	tail := len(order)
	for bytes := 0; tail > 0; tail-- {
		if bytes += 4 * segments[order[tail-1]].Len; bytes > edge {
			break
		}
	}
	var buckets []Bucket
	isOpen := false
	for i, param := range order {
		seg := segments[param]
		if !isOpen || i == tail {
			buckets = append(buckets, Bucket{Lo: seg.Offset})
		}
		last := len(buckets) - 1
		b := &buckets[last]
		b.Params = append(b.Params, param)
		b.Hi = seg.Offset + seg.Len
		full := limit
		if last == 0 {
			full = edge
		}
		isOpen = 4*(b.Hi-b.Lo) < full
	}
	return buckets
}

// number fills the tables of parameters and buckets.
func (s *exchange) number() {
	s.bucketOf = make([]int, len(s.config.Segments))
	s.missing = make([]int, len(s.buckets))
	s.order = make([]int, len(s.buckets))
	for i, b := range s.buckets {
		for _, param := range b.Params {
			s.bucketOf[param] = i
		}
		s.order[i] = i
	}
}

// prepare prepares one collective for each bucket.
func (s *exchange) prepare() {
	c := &s.config
	s.handles, s.plain = s.handles[:0], s.plain[:0]
	codec := c.Wire.Codec()
	for i := range s.buckets {
		vectors := s.vectors(i)
		call := comm.Call{Op: s.op, Name: s.nameOf(i), Codec: codec, Out: vectors[0], Pieces: vectors}
		if s.op == comm.AllReduce {
			call.Algorithm = c.Algorithm
		}
		s.handles = append(s.handles, c.Group.Prepare(call))
		call.Codec = nil
		s.plain = append(s.plain, 4*int64(c.Group.Cost(call, s.buckets[i].Hi-s.buckets[i].Lo).Sent))
	}
}

// Replan implements Exchange.
func (s *exchange) Replan(plan shard.Plan, pieces [][]float32) error {
	c := &s.config
	if !c.Wire.IsFixed() {
		return fmt.Errorf("gradsync: another plan with wire %v, which holds back gradients", c.Wire)
	}
	if err := c.Group.SetPlan(plan); err != nil {
		return fmt.Errorf("gradsync: another plan: %w", err)
	}
	c.Pieces = pieces
	if err := c.validate(); err != nil {
		return fmt.Errorf("gradsync: another plan: %w", err)
	}
	s.compressor = c.Wire.newCompressor(c, s.buckets)
	s.prepare()
	s.rows, s.shared = nil, nil
	return nil
}

// nameOf returns the name of a bucket in messages, where buckets are numbered from 1.
func (s *exchange) nameOf(bucket int) string {
	return fmt.Sprintf("bucket %d of %d", bucket+1, len(s.buckets))
}

func (s *exchange) Begin(int) {
	s.started, s.shared = 0, nil
	for i := range s.buckets {
		s.missing[i] = len(s.buckets[i].Params)
	}
}

func (s *exchange) Ready(param int) {
	s.missing[s.bucketOf[param]]--
	if s.isEager {
		s.startReady()
	}
}

// startReady starts the complete buckets in order, so that all ranks issue the same collectives in
// the same order. The last bucket is left to Wait: nothing is left to overlap with, so another
// thread would only add two thread switches.
func (s *exchange) startReady() { s.startFirst(len(s.buckets) - 1) }

// startFirst starts the complete ones among the first num buckets.
func (s *exchange) startFirst(num int) {
	for s.started < num && s.missing[s.order[s.started]] == 0 {
		i := s.order[s.started]
		s.compress(i)
		s.handles[i].Start()
		s.started++
	}
}

// wait blocks until all buckets are exchanged and the rows are complete.
func (s *exchange) wait() error {
	s.waiting = time.Now()
	var first error
	switch {
	case s.shared == nil:
	case s.isOverlapping():
		first = s.shared.handle.Wait()
	default:
		first = s.shared.handle.Do()
	}
	s.bookRows()
	for i, h := range s.handles {
		var err error
		if i < s.started {
			err = h.Wait()
		} else {
			s.compress(i)
			err = h.Do()
		}
		if err == nil {
			s.book(i, h, s.waiting)
			s.count(i, h)
		} else if first == nil {
			first = err
		}
	}
	if first == nil {
		first = s.restore(s.onBook)
	}
	return first
}

// count adds the bytes of an exchange to bucket i's totals.
func (s *exchange) count(i int, h *comm.Handle) {
	b := &s.buckets[i]
	b.Steps++
	b.Spared += s.plain[i] - h.Report().Vector
}

// bookRows adds the exchange of the rows, if there was one, to what training waited for.
func (s *exchange) bookRows() {
	if s.shared != nil {
		s.exposed.Add(s.shared.handle.Report().After(s.waiting))
		note(s.config.Track, "rows", 0, s.shared.handle.Report())
	}
}

// note records an exchange.
func note(t *trace.Track, name string, number int, r comm.Report) {
	x := trace.Exchange{Queued: r.Began.Sub(r.Issued), Waited: r.Waited, Peer: r.Last, Added: r.Added,
		Coded: r.Coded}
	if r.Met.IsZero() {
		x.Peer = -1
	}
	t.Exchange(name, number, r.Began, r.Ended, x)
}

// bookLate records an exchange that a compressor makes in Wait.
func (s *exchange) bookLate(i int, h *comm.Handle) { s.book(i, h, s.waiting) }

// book adds a finished exchange, for which training has waited since wait, to bucket i's totals.
func (s *exchange) book(i int, h *comm.Handle, wait time.Time) {
	s.buckets[i].book(h.Report(), wait)
	s.exposed.Add(h.Report().After(wait))
	note(s.config.Track, "bucket", i, h.Report())
}

// book adds a finished exchange, for which training has waited since wait, to the totals.
func (b *Bucket) book(t comm.Report, wait time.Time) {
	b.Sent += t.Sent
	b.Received += t.Received
	switch {
	case t.Began.After(wait):
		b.Exposed += t.Ended.Sub(t.Began)
	case t.Ended.After(wait):
		b.Exposed += t.Ended.Sub(wait)
		b.Hidden += wait.Sub(t.Began)
	default:
		b.Hidden += t.Ended.Sub(t.Began)
	}
}

// isOverlapping reports whether anything is exchanged during backward.
func (s *exchange) isOverlapping() bool { return s.isEager && len(s.buckets) > 1 }

// GatherRows starts an all-gather of the rows, prepared on first use of this slice. If nothing else is
// exchanged during backward, it leaves the start to Wait.
func (s *exchange) GatherRows(rows []float32) {
	s.gatherRows(rows, s.isOverlapping())
}

// gatherRows prepares the all-gather of rows, and starts it if isStarted, else leaves the start to
// wait.
func (s *exchange) gatherRows(rows []float32, isStarted bool) {
	if len(rows) == 0 {
		return
	}
	for i := range s.rows {
		if s.rows[i].first == &rows[0] && s.rows[i].len == len(rows) {
			s.shared = &s.rows[i]
		}
	}
	if s.shared == nil {
		plan := s.config.Group.Plan()
		h := s.config.Group.Prepare(comm.Call{Op: comm.AllGather, Name: "rows", Buf: comm.Bytes(rows),
			Bounds: bounds(plan, 4*len(rows)/plan.Shards())})
		s.rows = append(s.rows, rowsHandle{&rows[0], len(rows), h})
		s.shared = &s.rows[len(s.rows)-1]
	}
	if isStarted {
		s.shared.handle.Start()
	}
}

func (s *exchange) Sum(counts []int64) error { return sumCounts(s.config.Group, counts) }

// sumCounts gathers all workers' counts and adds them; the order of integers does not matter.
func sumCounts(g *comm.Group, counts []int64) error {
	n := len(counts)
	all, bounds := make([]int64, n*g.Size()), make([]int, g.Size()+1)
	for r := range bounds {
		bounds[r] = 8 * n * r
	}
	copy(all[n*g.Rank():], counts)
	h := g.Start(comm.Call{Op: comm.AllGather, Name: "counts", Buf: comm.Bytes(all), Bounds: bounds})
	if err := h.Wait(); err != nil {
		return err
	}
	clear(counts)
	for i, v := range all {
		counts[i%n] += v
	}
	return nil
}

func (s *exchange) Close() error { return nil }

func (s *exchange) Buckets() []Bucket { return append([]Bucket(nil), s.buckets...) }

func (s *exchange) Exposed() comm.Split {
	all := s.exposed
	all.Coded += s.spent()
	return all
}

func (s *exchange) State() State { return s.state() }
