package simulate

import (
	"errors"
	"iter"

	"lockstep/gradsync"
)

// course is what all workers know of a run.
type course struct {
	schedules
	meetings map[int]*meeting
	buckets  []gradsync.Bucket
	ready    []float64 // by bucket: part of the last backward pass
	order    []int     // in which buckets start
	elems    int       // of all gradients
	rowElems int       // of all rows
	steps    int       // of the run
	hidden   int       // buckets that rank 0 had begun to exchange when backward ended in the last step
}

// worker is the training thread of a rank. It is a coroutine that the clock resumes.
type worker struct {
	*world
	*thread
	*course
	passes Passes
	shards int     // forward and backward passes of a step
	noise  float64 // factor of this step's passes
	resume func()
	stop   func() // ends a worker that waits
	yield  func(struct{}) bool

	calls   []*call // by bucket
	rows    *call
	gathers []*call // of weights, by bucket
	number  int     // of collectives
	isFinal []bool  // by bucket: its gradients of this step are final
	started int     // buckets, in order
	isTaken []bool  // by bucket: its late sum has been waited for

	// With servers.
	away           []int // by bucket: spans whose weights are to come
	isWaiting      bool  // see until
	hasRows        bool
	isLent, isOver bool

	begun float64 // when the step began
	spent spent
	steps []spent // by step
}

// spent is what a step of a worker took.
type spent struct{ total, computing, updating, blocked float64 }

// errStopped ends the coroutine of a worker that waits for what never happens.
var errStopped = errors.New("simulate: stopped")

// hire makes the training thread of a rank, which will do as told.
func (w *world) hire(c *course, rank int, work func(w *worker)) *worker {
	lo, hi := w.Plan.Run(rank)
	n := len(c.buckets)
	t := &worker{world: w, thread: w.threads[rank], course: c, passes: w.Workers[rank], shards: hi - lo,
		calls: make([]*call, n), gathers: make([]*call, n), isFinal: make([]bool, n),
		isTaken: make([]bool, n), away: make([]int, n)}
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if cause := recover(); cause != nil && cause != errStopped {
				panic(cause)
			}
		}()
		t.yield = yield
		work(t)
	})
	t.resume, t.stop = func() { next() }, stop
	w.wake(t.resume)
	return t
}

// park lets time pass until the worker is resumed, and returns how much.
func (w *worker) park() float64 {
	since := w.now
	if !w.yield(struct{}{}) {
		panic(errStopped) // out of whatever the worker does, to hire
	}
	return w.now - since
}

// begin begins a step.
func (w *worker) begin(step int) {
	w.noise = 1
	if w.draw != nil {
		if factor := w.draw(w.rank, step); factor > 0 {
			w.noise = factor
		}
	}
	w.started = 0
	clear(w.isFinal)
	w.use(w.passes.Data, 1)
}

// finish ends a step.
func (w *worker) finish() {
	w.use(w.passes.Other, 1)
	w.spent.total = w.now - w.begun
	w.steps = append(w.steps, w.spent)
	w.spent, w.begun = spent{}, w.now
}

// use computes for so many seconds on some cores, but for what the machine is shared with.
func (w *worker) use(seconds, cores float64) {
	if seconds > 0 {
		w.compute(w.machine, seconds*w.noise, cores, true, w.resume)
		w.spent.computing += w.park()
	}
}

// update updates a part of the weights.
func (w *worker) update(part float64) {
	if seconds := part * w.passes.Update; seconds > 0 {
		w.compute(w.machine, seconds, w.passes.Threads, true, w.resume)
		w.spent.updating += w.park()
	}
}

// wait waits for a collective, which may be nil.
func (w *worker) wait(c *call) {
	if c != nil && !c.isDone {
		c.wake = w.resume
		w.spent.blocked += w.park()
	}
}

// call issues a collective.
func (w *worker) call(o operation, elems int) *call {
	w.number++
	if w.Plan.Workers() == 1 || elems == 0 {
		return nil
	}
	c := w.newCall(w.course, scheduleKey{o, elems}, w.rank, w.number)
	w.issue(w.thread, c)
	return c
}

// pass makes all passes of a step. It calls need before the first forward pass reads the weights of a bucket,
// share before the last backward pass, and ready when that has made a bucket's gradients final; need may be
// nil.
func (w *worker) pass(need func(bucket int), share func(), ready func(bucket int)) {
	n := float64(w.shards)
	forward, backward, cores := w.passes.Forward/n, w.passes.Backward/n, w.passes.Threads
	at := 0.0
	for i := len(w.buckets) - 1; i >= 0 && need != nil; i-- {
		if to := 1 - w.ready[i]; to > at { // the pass reads weights in the opposite order
			w.use((to-at)*forward, cores)
			at = to
		}
		need(i)
	}
	w.use((1-at)*forward, cores)
	for range w.shards - 1 {
		w.use(backward+forward, cores)
	}
	share()
	at = 0
	for i, to := range w.ready {
		w.use((to-at)*backward, cores)
		at = to
		ready(i)
	}
	w.use((1-at)*backward, cores)
}
