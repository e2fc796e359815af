package compute

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// maxThreads bounds Config.Threads; far above any machine, it catches nonsense.
const maxThreads = 1024

// Config says how a CPU computes.
type Config struct {
	// ISA is the implementation of the kernels. The zero value is Plain; Best() is the usual choice.
	ISA ISA
	// Threads is the number of threads that share each call, 1 to 1024; 0 means 1.
	Threads int
	// Crowded says that other busy threads want the same cores. Threads that wait then sleep at
	// once, which costs tens of microseconds per call, instead of taking a core from the others.
	Crowded bool
	// Math says how products are computed. The zero value is Fast.
	Math Math
}

// CPU runs kernels on a fixed set of worker threads. Results never depend on how many there are.
//
// A CPU belongs to one goroutine at a time: calls must not overlap. Separate CPUs are independent.
type CPU struct {
	config  Config
	workers []*worker
	group   sync.WaitGroup

	task    Task
	parts   int
	queues  []queue      // of parts of task, by thread
	left    atomic.Int64 // parts of task that are not done
	parked  atomic.Bool  // the caller sleeps on done
	done    chan struct{}
	spins   int
	closing atomic.Bool
}

// worker is one thread besides the caller's.
type worker struct {
	round  atomic.Uint32 // raised by Run to hand out a task
	parked atomic.Bool   // sleeps on wake
	wake   chan struct{}
	_      [64]byte // keeps the flags of two workers on separate cache lines
}

// Task is work that can be cut into parts.
type Task interface {
	// Do computes part number part of parts, 0 <= part < parts, on thread number thread. Parts run at
	// the same time and must write to separate places; together they do everything. A thread does one
	// at a time.
	Do(thread, part, parts int)
}

// Note: whose part it is
//
// A call is cut into more parts than there are threads. Each thread has a run of them, which it takes from
// the first on: it finds in its caches what it wrote in the call before. Once these are taken it takes
// those of others, from the last on. So a thread that the machine does not run, for another process or
// another virtual machine wants its core, costs the call at most the part that it has begun, not its
// share; and one that has not woken yet costs nothing.

// threadShares is how many parts of a call a thread has, where the task does not say: 4 and 16 are as good
// (docs/design/0016).
const threadShares = 8

// queue is the parts of a call that are a thread's own and not yet taken, on a cache line of its own.
type queue struct {
	ends atomic.Uint64 // the first, and 32 bits higher the one behind the last
	_    [120]byte
}

func (q *queue) fill(first, end int) { q.ends.Store(uint64(end)<<32 | uint64(first)) }

// take takes the first part or else the last.
func (q *queue) take(isFirst bool) (part int, ok bool) {
	for {
		old := q.ends.Load()
		first, end := int(uint32(old)), int(old>>32)
		if first >= end {
			return 0, false
		}
		next := old + 1
		if part = first; !isFirst {
			part, next = end-1, old-1<<32
		}
		if q.ends.CompareAndSwap(old, next) {
			return part, true
		}
	}
}

// Open starts a CPU with c.Threads-1 worker goroutines, which Close ends. It fails if the machine or
// the build lacks c.ISA.
func Open(c Config) (*CPU, error) {
	if c.Threads == 0 {
		c.Threads = 1
	}
	if c.Threads < 0 || c.Threads > maxThreads {
		return nil, fmt.Errorf("compute: open: %d threads, want 1 to %d", c.Threads, maxThreads)
	}
	if !slices.Contains(Supported(), c.ISA) {
		return nil, fmt.Errorf("compute: open: isa %v is not supported here, have %v", c.ISA, Supported())
	}
	if err := c.Math.On(c.ISA); err != nil {
		return nil, fmt.Errorf("compute: open: %w", err)
	}
	p := &CPU{config: c, done: make(chan struct{}, 1),
		queues: make([]queue, c.Threads)}
	// Spinning pays only while every thread has a core of its own.
	if !c.Crowded && c.Threads <= min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) {
		p.spins = spinRounds
	}
	for i := 1; i < c.Threads; i++ {
		w := &worker{wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		p.group.Go(func() { p.serve(w, i) })
	}
	return p, nil
}

// Close ends the worker threads and waits for them. The CPU must not be used afterwards; a second
// Close does nothing.
func (c *CPU) Close() {
	if c.closing.Swap(true) {
		return
	}
	for _, w := range c.workers {
		w.start()
	}
	c.group.Wait()
}

// ISA returns the implementation in use.
func (c *CPU) ISA() ISA { return c.config.ISA }

// Math returns how products are computed.
func (c *CPU) Math() Math { return c.config.Math }

// Threads returns the number of threads that share each call.
func (c *CPU) Threads() int { return c.config.Threads }

// Run does t in threadShares parts for each thread. See RunParts.
func (c *CPU) Run(t Task) { c.RunParts(t, threadShares*c.Threads()) }

// serialFloats is the size below which a call stays on its own thread: it takes some 10 us then,
// and waking the others would cost more than they save.
const serialFloats = 65536

// Share runs t, on all threads if it touches enough elements to be worth waking them.
func (c *CPU) Share(t Task, elems int) {
	if elems < serialFloats {
		t.Do(0, 0, 1)
		return
	}
	c.Run(t)
}

// RunParts calls t.Do once for each of so many parts, at least 1, and returns when all are done. It does
// not allocate. After Open with one thread it is t.Do(0, 0, 1). Do must not call Run.
func (c *CPU) RunParts(t Task, parts int) {
	if len(c.workers) == 0 {
		t.Do(0, 0, 1)
		return
	}
	c.task, c.parts = t, parts
	c.left.Store(int64(parts))
	for i := range c.queues { // from here on workers that are late for the call before may take part
		c.queues[i].fill(Span(parts, i, len(c.queues)))
	}
	for _, w := range c.workers {
		w.start()
	}
	c.work(0)
	c.join()
	c.task = nil
}

// PartsOf returns how many parts to cut n items into, the same number for each thread, so that each has about
// most items at most.
func (c *CPU) PartsOf(n, most int) int {
	threads := c.Threads()
	return threads * max(1, (n+most*threads-1)/(most*threads))
}

// Owns reports whether a part is one of those that a thread takes in ascending order, and the first.
func (c *CPU) Owns(thread, part, parts int) (owns, isFirst bool) {
	if parts == 1 {
		return true, true
	}
	first, end := Span(parts, thread, c.Threads())
	return first <= part && part < end, part == first
}

// Mirrored returns the number of the part to do instead, so that a thread does its own from the last to the
// first.
func (c *CPU) Mirrored(part, parts int) int {
	if parts%c.Threads() > 0 {
		return part
	}
	each := parts / c.Threads()
	return part - part%each + each - 1 - part%each
}

// work does parts of the task, as a thread, until all are taken. It knows the task only once it has taken
// a part: until then a call may end and the next begin.
func (c *CPU) work(thread int) {
	num := 0
	for part, ok := c.queues[thread].take(true); ok; part, ok = c.queues[thread].take(true) {
		c.task.Do(thread, part, c.parts)
		num++
	}
	c.account(num)
	for i := 1; i < len(c.queues); i++ {
		other := &c.queues[(thread+i)%len(c.queues)]
		for part, ok := other.take(false); ok; part, ok = other.take(false) {
			c.task.Do(thread, part, c.parts)
			c.account(1)
		}
	}
}

// account notes that parts are done, and wakes the caller after the last.
func (c *CPU) account(parts int) {
	if parts > 0 && c.left.Add(-int64(parts)) == 0 && c.parked.CompareAndSwap(true, false) {
		c.done <- struct{}{}
	}
}

// join waits until every part is done, in the manner of await.
func (c *CPU) join() {
	for {
		for range c.spins {
			if c.left.Load() == 0 {
				return
			}
			pause()
		}
		c.parked.Store(true)
		if c.left.Load() == 0 && c.parked.CompareAndSwap(true, false) {
			return
		}
		<-c.done
		if c.left.Load() == 0 {
			return
		}
	}
}

// serve is the life of one worker goroutine.
func (c *CPU) serve(w *worker, thread int) {
	for round := uint32(0); ; {
		if round = w.await(round, c.spins); c.closing.Load() {
			return
		}
		c.work(thread)
	}
}

// start hands out the next round, waking the worker if it sleeps.
func (w *worker) start() {
	w.round.Add(1)
	if w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// await returns the round handed out after the given one, or a later one if the worker was late: it looks
// spins times, then sleeps, and again.
//
// Whoever clears parked owns the wake-up: the worker itself, if the round came between its last look
// and the flag, else start. A start that is delayed after raising the round may find the worker
// parked for the next one and wake it early; so waking proves nothing and the round is read again.
func (w *worker) await(round uint32, spins int) uint32 {
	for {
		for range spins {
			if now := w.round.Load(); now != round {
				return now
			}
			pause()
		}
		w.parked.Store(true)
		if now := w.round.Load(); now != round && w.parked.CompareAndSwap(true, false) {
			return now
		}
		<-w.wake
		if now := w.round.Load(); now != round {
			return now
		}
	}
}

// Span cuts n items into parts nearly equal runs and returns run number part.
func Span(n, part, parts int) (lo, hi int) {
	return n * part / parts, n * (part + 1) / parts
}
