package comm

import "time"

// Call describes one collective.
type Call struct {
	Op Op
	// Name says what is exchanged, such as "bucket 2 of 3", for messages; it may be empty.
	Name string
	// Algorithm overrides the group's for AllReduce.
	Algorithm string
	// Codec is the form in which the vectors of AllReduce and ReduceScatter travel; nil: as they are.
	// Calls of the same group may share one.
	Codec Codec
	// Out receives the sum of AllReduce, ReduceScatter and Reduce; Pieces are this rank's
	// contributions, one per subtree of the plan, each as long as Out. Out may be Pieces[0].
	Out    []float32
	Pieces [][]float32
	// Buf and Bounds are the data of the others: part r is Buf[Bounds[r]:Bounds[r+1]].
	Buf    []byte
	Bounds []int
	// Root is the rank at the centre of Reduce, Gather, Scatter and Broadcast.
	Root int
}

// Report says when a collective was issued, when it began and ended, how many bytes this rank sent and
// received for it, and how many bytes of vectors those sent stand for.
type Report struct {
	Issued, Began, Ended   time.Time
	Sent, Received, Vector int64
}

// Handle is a collective that runs on its own.
type Handle struct {
	group        *Group
	call         Call
	pieces       [][]float32
	bounds       []int
	report       Report
	err          error
	done         chan struct{}
	isPersistent bool
}

// Prepare returns a handle that can be started again and again, for exchanges that repeat.
func (g *Group) Prepare(c Call) *Handle {
	h := &Handle{group: g, done: make(chan struct{}, 1), isPersistent: true}
	h.bind(c)
	return h
}

// Start issues a collective, to be executed after those issued before, and returns at once. The
// call's memory must not be touched until Wait returns. Wait must be called once, and ends the
// handle.
func (g *Group) Start(c Call) *Handle {
	h := g.take(c)
	h.Start()
	return h
}

// take returns a handle from the free list.
func (g *Group) take(c Call) *Handle {
	g.mu.Lock()
	var h *Handle
	if n := len(g.free); n > 0 {
		h, g.free = g.free[n-1], g.free[:n-1]
	}
	g.mu.Unlock()
	if h == nil {
		h = &Handle{group: g, done: make(chan struct{}, 1)}
	}
	h.bind(c)
	return h
}

// bind copies the call, slices of slices too, so that the caller's headers may live on a stack.
func (h *Handle) bind(c Call) {
	h.pieces = append(h.pieces[:0], c.Pieces...)
	h.bounds = append(h.bounds[:0], c.Bounds...)
	c.Pieces, c.Bounds = h.pieces, h.bounds
	h.call = c
}

// Start issues a prepared collective again, after the Wait of the previous time.
func (h *Handle) Start() {
	g := h.group
	h.report = Report{Issued: time.Now()}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isClosed {
		h.finish(ErrClosed)
		return
	}
	g.queue = append(g.queue, h)
	g.wake.Broadcast()
}

// finish wakes the waiter.
func (h *Handle) finish(err error) {
	h.err = err
	h.done <- struct{}{}
}

// Wait blocks until the collective is done and returns its error. If the group's thread is idle
// still, Wait does its work, which saves two changes of thread.
func (h *Handle) Wait() error {
	g := h.group
	g.mu.Lock()
	for len(h.done) == 0 && len(g.queue) > 0 && !g.isRunning && !g.isClosed {
		g.executeNext(true)
	}
	g.mu.Unlock()
	<-h.done
	return h.release()
}

// release returns the error and puts a one-time handle back.
func (h *Handle) release() error {
	err := h.err
	if !h.isPersistent {
		g := h.group
		g.mu.Lock()
		h.call = Call{}
		g.free = append(g.free, h)
		g.mu.Unlock()
	}
	return err
}

// Report returns what the last execution took, after Wait of a prepared handle.
func (h *Handle) Report() Report { return h.report }

// Do executes a prepared collective and returns when it is done; if none is under way it runs on
// the caller's goroutine, which saves two changes of thread.
func (h *Handle) Do() error {
	g := h.group
	g.mu.Lock()
	if g.isClosed || g.isRunning || len(g.queue) > 0 {
		g.mu.Unlock()
		h.Start()
		return h.Wait()
	}
	h.report = Report{Issued: time.Now()}
	g.execute(h, true)
	g.mu.Unlock()
	return h.Wait()
}

func (g *Group) do(c Call) error { return g.take(c).Do() }
