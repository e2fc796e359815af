package ps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/trace"
)

// ClientConfig configures a Client. Post, Layout, Pieces and Weights are required.
type ClientConfig struct {
	Post   *comm.Post
	Layout *Layout
	// Pieces are this worker's partial gradients, one flat vector for each of its subtrees, which
	// are scratch once pushed. What Post.Alloc returns is sent without a copy.
	Pieces [][]float32
	// Weights is this worker's copy of the flat vector of weights.
	Weights []float32
	// Push and Pull are the servers'.
	Push, Pull gradsync.Wire
	// Track records a span per bucket; nil records nothing.
	Track *trace.Track
}

// Client is a worker's side of the servers. It satisfies train.ServerSync. A step is Begin,
// GatherRows and Ready, WaitRows, WaitWeights. It is for one goroutine.
type Client struct {
	config   ClientConfig
	feedback *gradsync.Feedback
	buckets  []gradsync.Bucket
	bucketOf []int // by parameter
	missing  []int // by bucket: parameters not ready yet in this step
	spans    []exchange
	ofBucket [][]int // by bucket: its spans
	ofParam  [][]int // by parameter: its spans

	step       announcement
	isBegun    bool // the step is announced
	servers    []correspondence
	rows       []float32 // those of every step
	isRowsAway bool
	ownRows    *comm.Mail
	allRows    *comm.Mail
	counts     []int64
	addends    *comm.Mail
	sums       *comm.Mail
	state      [][]float32 // for Load
	exposed    comm.Split  // but for what the compressor spent
	err        error       // the first
}

// exchange is a worker's exchange of one span with its server.
type exchange struct {
	Span
	number int
	pushes []*comm.Mail // by piece
	pull   *comm.Mail
	isAway bool // until Wait has returned for both
	isSent bool // until Wait has returned for the pushes
}

// correspondence is a worker's messages with one server, once a step or less often.
type correspondence struct {
	announcement       []byte
	announce           *comm.Mail
	isAnnounced        bool // at least once
	leave, acknowledge *comm.Mail
	request            []byte
	load, collect      *comm.Mail   // of worker 0
	vectors            []vectorMail // of worker 0
}

// vectorMail is a server's vector on its way from or to worker 0.
type vectorMail struct {
	vector        []float32
	load, collect *comm.Mail
}

// NewClient returns the client of worker Post.Rank.
func NewClient(c ClientConfig) (*Client, error) {
	w := &Client{config: c, buckets: slices.Clone(c.Layout.buckets)}
	err := w.validate()
	if err == nil {
		w.feedback, err = gradsync.NewFeedback(c.Push, c.Pieces, w.buckets)
	}
	if err == nil {
		err = w.register()
	}
	if err != nil {
		return nil, fmt.Errorf("ps: worker %d: %w", c.Post.Rank(), err)
	}
	return w, nil
}

func (w *Client) validate() error {
	c := &w.config
	l := c.Layout
	switch {
	case c.Post.Size() != l.Ranks() || c.Post.Rank() >= l.Workers:
		return fmt.Errorf("rank %d of %d, want one of %d workers of %d", c.Post.Rank(), c.Post.Size(),
			l.Workers, l.Ranks())
	case len(c.Pieces) != len(l.config.Plan.Pieces(c.Post.Rank())):
		return fmt.Errorf("%d pieces, want %d", len(c.Pieces), len(l.config.Plan.Pieces(c.Post.Rank())))
	case len(c.Weights) != l.config.Len:
		return fmt.Errorf("%d weights, want %d", len(c.Weights), l.config.Len)
	}
	for i, p := range c.Pieces {
		if len(p) != l.config.Len {
			return fmt.Errorf("len(pieces[%d])=%d, want %d", i, len(p), l.config.Len)
		}
	}
	return checkWires(c.Push, c.Pull)
}

// register registers the worker's messages, except for rows and vectors.
func (w *Client) register() error {
	c, l := &w.config, w.config.Layout
	rank := c.Post.Rank()
	codec, weights := c.Push.Codec(), c.Pull.Codec()
	var first error
	for s, home := range l.Homes {
		r := registry{post: c.Post, layout: l, server: s}
		for i, span := range l.Parts[s].Spans {
			e := exchange{Span: span, number: len(w.spans)}
			for piece, p := range c.Pieces {
				e.pushes = append(e.pushes, r.send(kindPush, home, i, piece, comm.Letter{
					Name: "push", Vector: p[span.Lo:span.Hi], Codec: codec}))
			}
			letter := comm.Letter{Name: "pull", Codec: weights}
			if home != rank {
				letter.Vector = make([]float32, span.Hi-span.Lo)
			}
			e.pull = r.receive(kindPull, home, i, 0, letter)
			w.spans = append(w.spans, e)
		}
		w.servers = append(w.servers, w.correspond(&r, home))
		if first == nil {
			first = r.err
		}
		if s == 0 {
			w.counts = make([]int64, sumElems)
			letter := comm.Letter{Name: "counts", Buf: comm.Bytes(w.counts)}
			w.addends = r.send(kindSum, home, rank, 0, letter)
			w.sums = r.receive(kindSum, home, rank, 0, letter)
		}
	}
	w.index()
	return first
}

// correspond registers the messages of every kind of a server but those of spans.
func (w *Client) correspond(r *registry, home int) correspondence {
	rank := w.config.Post.Rank()
	s := correspondence{announcement: make([]byte, announcementBytes), request: make([]byte, loadBytes)}
	s.announce = r.send(kindAnnounce, home, rank, 0, comm.Letter{Name: "announcement", Buf: s.announcement})
	s.leave = r.send(kindLeave, home, rank, 0, comm.Letter{Name: "leave", Buf: make([]byte, 1)})
	s.acknowledge = r.receive(kindLeave, home, rank, 0, comm.Letter{Name: "leave", Buf: make([]byte, 1)})
	if rank == 0 {
		s.load = r.send(kindLoad, home, 0, 0, comm.Letter{Name: "load", Buf: s.request})
		s.collect = r.send(kindCollect, home, 0, 0, comm.Letter{Name: "collect", Buf: s.request})
	}
	return s
}

// index makes the tables of buckets and parameters.
func (w *Client) index() {
	segments := w.config.Layout.config.Segments
	w.bucketOf, w.missing = make([]int, len(segments)), make([]int, len(w.buckets))
	w.ofBucket, w.ofParam = make([][]int, len(w.buckets)), make([][]int, len(segments))
	for i, e := range w.spans {
		w.ofBucket[e.Bucket] = append(w.ofBucket[e.Bucket], i)
		for _, param := range w.buckets[e.Bucket].Params {
			w.bucketOf[param] = e.Bucket
			if s := segments[param]; s.Offset < e.Hi && e.Lo < s.Offset+s.Len {
				w.ofParam[param] = append(w.ofParam[param], i)
			}
		}
	}
}

// Announce says what the servers must know of the step that Begin begins: the learning rate, and
// the size of the batch over all workers.
func (w *Client) Announce(rate float64, samples int) { w.step.rate, w.step.samples = rate, samples }

// Begin starts a step.
func (w *Client) Begin(step int) {
	w.step.step, w.isBegun = step, false
	for i := range w.buckets {
		w.missing[i] = len(w.buckets[i].Params)
	}
}

// announce sends the announcement ahead of the first push. Until then the weights of the step before
// have arrived, so its pushes have left.
func (w *Client) announce() {
	if w.isBegun {
		return
	}
	w.isBegun = true
	for i := range w.servers {
		s := &w.servers[i]
		if s.isAnnounced {
			w.keep(s.announce.Wait())
		}
		s.isAnnounced = true
		w.step.put(s.announcement)
		s.announce.Start()
	}
}

// Ready reports that the pieces of a parameter's gradient are final.
func (w *Client) Ready(param int) {
	bucket := w.bucketOf[param]
	if w.missing[bucket]--; w.missing[bucket] > 0 {
		return
	}
	w.announce()
	for _, i := range w.ofBucket[bucket] {
		w.spans[i].expect()
	}
	w.push(bucket)
}

// push sends the pieces of a bucket.
func (w *Client) push(bucket int) {
	w.feedback.Compress(bucket)
	for _, i := range w.ofBucket[bucket] {
		e := &w.spans[i]
		e.isSent = true
		for _, m := range e.pushes {
			m.StartAs(PushPriority(w.step.step))
		}
	}
}

// expect begins to receive the span's next weights.
func (e *exchange) expect() {
	e.isAway = true
	e.pull.Start()
}

// waitSent waits until the pushes of a span have left, and adds them to the totals of its bucket, and to
// what training has waited for since a time.
// It returns when the last of them had left; the zero time: that was known before.
func (w *Client) waitSent(e *exchange, since time.Time) (left time.Time) {
	if !e.isSent {
		return left
	}
	e.isSent = false
	b := &w.buckets[e.Bucket]
	for _, m := range e.pushes {
		w.keep(m.Wait())
		t := m.Report()
		b.Sent += t.Sent
		w.exposed.Add(t.After(since))
		if t.Ended.After(left) {
			left = t.Ended
		}
		if m.Peer() != w.config.Post.Rank() { // what stays in this process is not sent by fp32 either
			b.Spared += 4*int64(e.Hi-e.Lo) - t.Vector
		}
	}
	if w.ofBucket[e.Bucket][0] == e.number {
		b.Steps++
	}
	return left
}

// GatherRows sends this worker's rows and asks for those of all workers. It must be called with the
// same rows in every step.
func (w *Client) GatherRows(rows []float32) {
	if w.rows == nil {
		w.err = w.addRows(rows)
	}
	if w.err == nil && &w.rows[0] != &rows[0] {
		w.err = errors.New("ps: other rows than in the step before")
	}
	if w.err == nil {
		w.isRowsAway = true
		w.allRows.Start()
		w.ownRows.Start()
	}
}

// addRows registers the messages of rows.
func (w *Client) addRows(rows []float32) error {
	l, rank := w.config.Layout, w.config.Post.Rank()
	if len(rows) != l.numRows() {
		return fmt.Errorf("ps: rows of %d elements, want %d", len(rows), l.numRows())
	}
	w.rows = rows
	lo, hi := l.rowBounds(rank)
	r := registry{post: w.config.Post, layout: l}
	w.ownRows = r.send(kindRows, l.Homes[0], rank, 0, comm.Letter{Name: "rows", Vector: rows[lo:hi]})
	w.allRows = r.receive(kindRows, l.Homes[0], rank, 0, comm.Letter{Name: "rows of all", Vector: rows})
	return r.err
}

// WaitRows blocks until all rows are filled. After an error the client is unusable.
func (w *Client) WaitRows() error {
	if w.isRowsAway {
		w.isRowsAway = false
		began := time.Now()
		w.keep(w.allRows.Wait())
		w.keep(w.ownRows.Wait())
		w.waited(began, w.allRows)
	}
	return w.err
}

// keep keeps the first error.
func (w *Client) keep(err error) {
	if w.err == nil && err != nil {
		w.err = w.config.Layout.named(err)
	}
}

// WaitWeights blocks until the new weights of param are in Weights, or all of them if param is
// negative. All must be there before the next Ready.
func (w *Client) WaitWeights(param int) error {
	if param >= 0 {
		for _, i := range w.ofParam[param] {
			w.wait(&w.spans[i])
		}
		return w.err
	}
	for b := len(w.buckets) - 1; b >= 0; b-- {
		for _, i := range w.ofBucket[b] {
			w.wait(&w.spans[i])
		}
	}
	return w.err
}

// wait waits until a span is exchanged, and copies its weights.
func (w *Client) wait(e *exchange) {
	if !e.isAway {
		return
	}
	e.isAway = false
	began := time.Now()
	err := e.pull.Wait()
	w.keep(err)
	if left := w.waitSent(e, began); left.After(began) {
		w.waited(left, e.pull)
	} else {
		w.waited(began, e.pull)
	}
	if err != nil {
		return
	}
	copy(w.config.Weights[e.Lo:e.Hi], e.pull.Vector())
	w.book(e, began)
}

// waited adds a message, for which training has waited since a time, to what it has waited for: until its
// first byte came it was another rank's turn.
func (w *Client) waited(since time.Time, m *comm.Mail) {
	r := m.Report()
	if r.Began.After(since) {
		w.exposed.Waited += r.Began.Sub(since)
	}
	w.exposed.Add(r.After(since))
}

// book adds a span's new weights, for which training has waited since began, to the totals of its bucket.
func (w *Client) book(e *exchange, began time.Time) {
	b, pulled := &w.buckets[e.Bucket], e.pull.Report()
	b.Received += pulled.Received
	b.Exposed += time.Since(began) // since they were issued, other workers may have computed
	x := trace.Exchange{Waited: pulled.Began.Sub(began), Peer: e.pull.Peer(), Coded: pulled.Coded}
	w.config.Track.Exchange("span", e.number, pulled.Issued, pulled.Ended, x)
}

// Sum replaces counts by their sums over all workers, which server 0 computes.
func (w *Client) Sum(counts []int64) error {
	for len(counts) > 0 && w.err == nil {
		n := copy(w.counts, counts)
		clear(w.counts[n:])
		w.sums.Start()
		w.addends.Start()
		w.keep(w.sums.Wait())
		w.keep(w.addends.Wait())
		counts = counts[copy(counts, w.counts):]
	}
	return w.err
}

// Load gives the servers worker 0's weights, and the state of Restore, before the first step; steps
// are done. Other workers have the same weights, and do nothing.
func (w *Client) Load(steps int) error {
	if w.config.Post.Rank() != 0 {
		return nil
	}
	flat := append([][]float32{w.config.Weights}, w.state...)
	for i := range w.servers {
		s := &w.servers[i]
		if w.keep(w.addVectors(i, len(flat))); w.err != nil {
			return w.err
		}
		binary.LittleEndian.PutUint64(s.request, uint64(steps))
		binary.LittleEndian.PutUint64(s.request[8:], uint64(len(flat)))
		s.load.Start()
		for v := range flat {
			w.config.Layout.Pick(s.vectors[v].vector, flat[v], i)
			s.vectors[v].load.Start()
		}
		w.keep(s.load.Wait())
		for v := range flat {
			w.keep(s.vectors[v].load.Wait())
		}
	}
	w.state = nil
	return w.err
}

// Restore sets the state of the optimizer that Load gives the servers: its vectors, in the layout of
// the weights. Only worker 0's matters.
func (w *Client) Restore(state [][]float32) { w.state = state }

// Collect fills the vectors of the optimizer's state, in the layout of the weights, from all servers,
// and weights unless it is nil. Worker 0 calls it between two steps. It allocates.
func (w *Client) Collect(weights []float32, state [][]float32) error {
	flat, first := append([][]float32{weights}, state...), 0
	if weights == nil {
		first = 1
	}
	for i := range w.servers {
		s := &w.servers[i]
		if w.keep(w.addVectors(i, len(flat))); w.err != nil {
			return w.err
		}
		binary.LittleEndian.PutUint64(s.request, uint64(first))
		for v := first; v < len(flat); v++ {
			s.vectors[v].collect.Start()
		}
		s.collect.Start()
		w.keep(s.collect.Wait())
		for v := first; v < len(flat); v++ {
			w.keep(s.vectors[v].collect.Wait())
			w.config.Layout.Place(flat[v], s.vectors[v].vector, i)
		}
	}
	return w.err
}

// addVectors registers the messages of a server's first n vectors.
func (w *Client) addVectors(server, n int) error {
	s, l := &w.servers[server], w.config.Layout
	r := registry{post: w.config.Post, layout: l, server: server}
	for i := len(s.vectors); i < n; i++ {
		v := make([]float32, l.Parts[server].Len)
		letter := comm.Letter{Name: fmt.Sprintf("vector %d of server %d", i, server), Vector: v}
		s.vectors = append(s.vectors, vectorMail{vector: v,
			load:    r.send(kindVector, l.Homes[server], i, 0, letter),
			collect: r.receive(kindVector, l.Homes[server], i, 0, letter)})
	}
	return r.err
}

// Buckets returns the buckets with their totals since NewClient.
func (w *Client) Buckets() []gradsync.Bucket { return slices.Clone(w.buckets) }

// Exposed returns what the time went into, since NewClient, in which training waited for servers or
// compressed for them. Sums are the servers'.
func (w *Client) Exposed() comm.Split {
	all := w.exposed
	all.Coded += w.feedback.Spent()
	return all
}

// State returns the residuals of the wire. See gradsync.Exchange.
func (w *Client) State() gradsync.State { return w.feedback.State() }

// Close tells the servers that this worker leaves, unless it leaves in the middle of a step or an
// exchange has failed: then the end of its links tells them. The post stays open.
func (w *Client) Close() error {
	if w.err != nil || w.isRowsAway || w.isBegun && w.isIncomplete() {
		return nil
	}
	if err := w.WaitWeights(-1); err != nil {
		return err
	}
	for i := range w.servers {
		w.servers[i].acknowledge.Start()
		w.servers[i].leave.Start()
	}
	for i := range w.servers {
		w.keep(w.servers[i].leave.Wait())
		w.keep(w.servers[i].acknowledge.Wait())
	}
	return w.err
}

// isIncomplete reports whether a bucket of the step was not pushed.
func (w *Client) isIncomplete() bool {
	for _, n := range w.missing {
		if n > 0 {
			return true
		}
	}
	return false
}
