package compute

import (
	"runtime"
	"time"
)

// A CPU that is slowed sleeps once it owes this much time: short against a step, long against the
// precision of a sleep.
const leastSleep = 200 * time.Microsecond

// mostCredit bounds how much of the time lost to other processes a slowed CPU makes up for in later calls.
// With 100 ms, one delay let the steps of a small network run at full speed fifty times.
const mostCredit = 2 * time.Millisecond

// slowness makes a CPU slower by a duty cycle: it computes, then sleeps.
type slowness struct {
	factor float64       // 1 or less: full speed
	owed   time.Duration // to sleep; negative: credit
}

// Slow makes all later calls take factor times as long, by sleeping between them; 1 is full speed. It
// imitates a slower machine, to try out how a run copes with one, and changes no result.
//
// A CPU with one thread counts the processor time of its calls, where the system tells it, so that
// sleeping shrinks while other processes delay it: the CPU then keeps to the rate of a slow machine of
// its own, as long as the demand of all processes fits into the cores. With several threads it counts
// the wall time of its calls.
func (c *CPU) Slow(factor float64) { c.slow = slowness{factor: factor} }

// Alone does t on the caller's thread, in one part.
func (c *CPU) Alone(t Task) {
	if c.slow.factor > 1 {
		c.doSlowly(t, 1, func(t Task, _ int) { t.Do(0, 0, 1) })
		return
	}
	t.Do(0, 0, 1)
}

// doSlowly calls do and sleeps for what is owed then.
func (c *CPU) doSlowly(t Task, parts int, do func(t Task, parts int)) {
	factor := c.slow.factor
	isOwn := c.Threads() == 1
	if isOwn {
		runtime.LockOSThread() // the processor time is that of a thread
	}
	began, used := time.Now(), threadTime()
	do(t, parts)
	busy, took := threadTime()-used, time.Since(began)
	if isOwn {
		runtime.UnlockOSThread()
	}
	if !isOwn || busy <= 0 || busy > took {
		busy = took
	}
	c.slow.owed += time.Duration(factor*float64(busy)) - took
	c.slow.owed = max(c.slow.owed, -mostCredit)
	if c.slow.owed < leastSleep {
		return
	}
	began = time.Now()
	time.Sleep(c.slow.owed)
	c.slow.owed -= time.Since(began)
}
