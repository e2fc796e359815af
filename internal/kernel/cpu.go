package kernel

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
	ops     ops
	workers []*worker
	group   sync.WaitGroup

	task    Task
	left    atomic.Int32 // workers still busy with task
	parked  atomic.Bool  // the caller sleeps on done
	done    chan struct{}
	spins   int
	closing bool

	element elementwise  // the element-wise call in progress
	loss    crossEntropy // the softmax cross entropy call in progress

	finishing finishing // the call of a Finisher in progress
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
	// Do computes part number part of parts, 0 <= part < parts. Parts run at the same time and must
	// write to separate places; together they do everything.
	Do(part, parts int)
}

// Open starts a CPU with c.Threads-1 worker goroutines, which Close ends. It fails if the machine or
// the build lacks c.ISA.
func Open(c Config) (*CPU, error) {
	if c.Threads == 0 {
		c.Threads = 1
	}
	if c.Threads < 0 || c.Threads > maxThreads {
		return nil, fmt.Errorf("kernel: open: %d threads, want 1 to %d", c.Threads, maxThreads)
	}
	if !slices.Contains(Supported(), c.ISA) {
		return nil, fmt.Errorf("kernel: open: isa %v is not supported here, have %v", c.ISA, Supported())
	}
	if err := c.Math.On(c.ISA); err != nil {
		return nil, fmt.Errorf("kernel: open: %w", err)
	}
	p := &CPU{config: c, ops: opsFor(c.ISA, c.Math), done: make(chan struct{}, 1)}
	// Spinning pays only while every thread has a core of its own.
	if !c.Crowded && c.Threads <= min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) {
		p.spins = spinRounds
	}
	for i := 1; i < c.Threads; i++ {
		w := &worker{wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		p.group.Go(func() { p.work(w, i) })
	}
	return p, nil
}

// Close ends the worker threads and waits for them. The CPU must not be used afterwards; a second
// Close does nothing.
func (c *CPU) Close() {
	if c.closing {
		return
	}
	c.closing = true
	for _, w := range c.workers {
		w.start()
	}
	c.group.Wait()
}

// ISA returns the implementation in use.
func (c *CPU) ISA() ISA { return c.config.ISA }

// Threads returns the number of threads that share each call.
func (c *CPU) Threads() int { return c.config.Threads }

// Run calls t.Do once for each of Threads() parts, part 0 on the calling goroutine and each other
// part always on the same worker, and returns when all are done. It does not allocate.
// After Open with one thread it is t.Do(0, 1). Do must not call Run.
func (c *CPU) Run(t Task) {
	if len(c.workers) == 0 {
		t.Do(0, 1)
		return
	}
	c.task = t
	c.left.Store(int32(len(c.workers)))
	for _, w := range c.workers {
		w.start()
	}
	t.Do(0, len(c.workers)+1)
	c.join()
	c.task = nil
}

// join waits until every worker has finished its part, in the manner of await.
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

// work is the life of one worker goroutine, which does part number part of each task.
func (c *CPU) work(w *worker, part int) {
	for round := uint32(1); ; round++ {
		w.await(round, c.spins)
		if c.closing {
			return
		}
		c.task.Do(part, len(c.workers)+1)
		if c.left.Add(-1) == 0 && c.parked.CompareAndSwap(true, false) {
			c.done <- struct{}{}
		}
	}
}

// start hands out the next round, waking the worker if it sleeps.
func (w *worker) start() {
	w.round.Add(1)
	if w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// await returns once round has been handed out: it looks spins times, then sleeps, and again.
//
// Whoever clears parked owns the wake-up: the worker itself, if the round came between its last look
// and the flag, else start. A start that is delayed after raising the round may find the worker
// parked for the next one and wake it early; so waking proves nothing and the round is read again.
func (w *worker) await(round uint32, spins int) {
	for {
		for range spins {
			if w.round.Load() == round {
				return
			}
			pause()
		}
		w.parked.Store(true)
		if w.round.Load() == round && w.parked.CompareAndSwap(true, false) {
			return
		}
		<-w.wake
		if w.round.Load() == round {
			return
		}
	}
}

// span cuts n items into parts nearly equal runs and returns run number part.
func span(n, part, parts int) (lo, hi int) {
	return n * part / parts, n * (part + 1) / parts
}
