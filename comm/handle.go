package comm

import "time"

// Call describes one collective.
type Call struct {
	Op Op
	// Name says what is exchanged, such as "bucket 2 of 3", for error messages; it may be empty.
	Name string
	// Algorithm overrides the group's algorithm of AllReduce.
	Algorithm string
	// Codec encodes the vectors of AllReduce and ReduceScatter; nil means none. Calls of one group
	// may share a codec.
	Codec Codec
	// Out receives the sum of AllReduce, ReduceScatter and Reduce; Pieces are this rank's
	// contributions, one per subtree of the plan, each as long as Out. Out may be Pieces[0].
	Out    []float32
	Pieces [][]float32
	// Buf and Bounds are the data of the other operations: part r is Buf[Bounds[r]:Bounds[r+1]].
	Buf    []byte
	Bounds []int
	// Root is the root of Reduce, Gather, Scatter and Broadcast.
	Root int
}

// Handle is a collective that runs in the background.
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

// Prepare returns a handle that can be started repeatedly, for exchanges that repeat.
func (g *Group) Prepare(c Call) *Handle {
	h := &Handle{group: g, done: make(chan struct{}, 1), isPersistent: true}
	h.bind(c)
	return h
}

// Start issues a collective, which is executed after those issued before, and returns at once. The
// call's buffers must not be touched until Wait returns. Wait must be called once and invalidates
// the handle.
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

// bind copies the call, including its slices of slices, so that the caller's can stay on the stack.
func (h *Handle) bind(c Call) {
	h.pieces = append(h.pieces[:0], c.Pieces...)
	h.bounds = append(h.bounds[:0], c.Bounds...)
	c.Pieces, c.Bounds = h.pieces, h.bounds
	h.call = c
}

// Start issues a prepared collective again. The Wait of the previous execution must have returned.
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

// finish wakes the goroutine in Wait.
func (h *Handle) finish(err error) {
	h.err = err
	h.done <- struct{}{}
}

// Wait blocks until the collective is done and returns its error. If the group's thread is idle,
// Wait executes the collective itself, which saves two thread switches.
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

// release returns the error and recycles a handle that was not prepared.
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

// Report returns the report of the last execution of a prepared handle, after Wait.
func (h *Handle) Report() Report { return h.report }

// Do executes a prepared collective and returns when it is done. If no other is in progress it runs
// on the caller's goroutine, which saves two thread switches.
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
