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
	slow    slowness
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

// Note: work stealing
//
// A call is cut into more parts than there are threads. Each thread owns a run of parts and takes them in
// ascending order, so that it finds in its caches what it wrote in the call before. Then it steals the
// parts of other threads, the last ones first. So a thread that loses its core to another process or
// virtual machine delays the call by at most the part that it has begun, and a thread that has not woken
// yet does not delay it.

// threadShares is the default number of parts per thread; 4 and 16 are as good (docs/design/0016).
const threadShares = 8

// queue holds the parts of a call that a thread owns and nobody has taken, on a cache line of its own.
type queue struct {
	ends atomic.Uint64 // low half: the first part; high half: the one after the last
	_    [120]byte
}

func (q *queue) fill(first, end int) { q.ends.Store(uint64(end)<<32 | uint64(first)) }

// take removes the first part if isFirst, else the last. It reports whether there was one.
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

// Split returns a CPU like c with one n-th of its threads, which n must divide. It computes beside c, not
// instead of it; the caller closes it.
func (c *CPU) Split(n int) (*CPU, error) {
	config := c.config
	config.Threads /= n
	return Open(config)
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
		c.Alone(t)
		return
	}
	c.Run(t)
}

// RunParts cuts t into parts, at least 1, calls t.Do once for each and returns when all are done. A CPU
// with one thread calls t.Do(0, 0, 1) instead. RunParts does not allocate. Do must not call Run.
func (c *CPU) RunParts(t Task, parts int) {
	switch {
	case len(c.workers) == 0:
		c.Alone(t)
	case c.slow.factor > 1:
		c.doSlowly(t, parts, c.runParts)
	default:
		c.runParts(t, parts)
	}
}

// runParts is RunParts on several threads.
func (c *CPU) runParts(t Task, parts int) {
	c.task, c.parts = t, parts
	c.left.Store(int64(parts))
	for i := range c.queues { // from here on workers still awake from the call before may join
		c.queues[i].fill(Span(parts, i, len(c.queues)))
	}
	for _, w := range c.workers {
		w.start()
	}
	c.work(0)
	c.join()
	c.task = nil
}

// PartsOf returns how many parts to cut n items into: the same number for each thread, each part with at
// most about limit items.
func (c *CPU) PartsOf(n, limit int) int {
	threads := c.Threads()
	return threads * max(1, (n+limit*threads-1)/(limit*threads))
}

// Owns reports whether thread owns part, and whether part is the first that it owns. A thread takes the
// parts it owns in ascending order.
func (c *CPU) Owns(thread, part, parts int) (owns, isFirst bool) {
	if parts == 1 {
		return true, true
	}
	first, end := Span(parts, thread, c.Threads())
	return first <= part && part < end, part == first
}

// Mirrored returns the part to do in place of part so that each thread does its own from the last to the
// first.
func (c *CPU) Mirrored(part, parts int) int {
	if parts%c.Threads() > 0 {
		return part
	}
	each := parts / c.Threads()
	return part - part%each + each - 1 - part%each
}

// work does parts of the task on a thread until all are taken. It must not read the task before it has
// taken a part: until then the call may end and the next begin.
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

// join waits until every part is done: it spins, then sleeps, as await does.
func (c *CPU) join() {
	for {
		for range c.spins {
			if c.left.Load() == 0 {
				return
			}
			pause()
		}
		c.parked.Swap(true)
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

// await waits for a round later than the given one and returns the current round. It checks spins times,
// then sleeps, and repeats.
//
// The one that clears parked owns the wake-up: the worker itself, if the round changed between its last
// check and the flag, else start. A start that is delayed after raising the round may find the worker
// parked for the next one and wake it early; so await reads the round again after waking.
//
// Raising parked is a Swap, as qemu's arm64 lets a load overtake a Store: there the two missed each other,
// and a training slept for ever.
func (w *worker) await(round uint32, spins int) uint32 {
	for {
		for range spins {
			if now := w.round.Load(); now != round {
				return now
			}
			pause()
		}
		w.parked.Swap(true)
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
