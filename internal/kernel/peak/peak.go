package peak

import (
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/row"
)

// Note: what a machine can reach.
//
// FLOPs and Bandwidth measure the two limits of every kernel, arithmetic and memory, with the threads and
// the inner loops of this CPU. Other work on the machine can only slow a measurement down, so each reports
// the fastest of several rounds.

const (
	// turns makes a call of run last about 10 us, since Go cannot preempt assembly.
	turns  = 5000
	calls  = 50 // in a round, about half a millisecond
	rounds = 16
)

// FLOPs measures how many additions and multiplications per second all threads reach together
// with fused multiply-adds on independent values in registers. It takes about 10 ms.
func FLOPs(c *compute.CPU) float64 {
	ops := asm.OpsFor(c.ISA(), c.Math()).Peak
	t := &task{ops: &ops, sums: make([]float32, c.Threads()*ops.Floats)}
	work := 2 * float64(len(t.sums)) * turns * calls
	return work / fastest(rounds, func() { c.RunParts(t, c.Threads()) }).Seconds()
}

// task is a round of FLOPs.
type task struct {
	ops  *asm.PeakOps
	sums []float32
}

// Do works on one part's sums.
func (t *task) Do(_, part, _ int) {
	n := t.ops.Floats
	for range calls {
		t.ops.Run(t.sums[part*n:(part+1)*n], turns)
	}
}

// Products measures how many additions and multiplications per second all threads reach together in the
// products of parts of c's math, which has some, on tiles in the nearest cache. Each product of two numbers
// counts once, of however many parts. It takes some 10 ms.
func Products(c *compute.CPU) float64 {
	ops := asm.OpsFor(c.ISA(), c.Math()).Split
	t := &products{ops: &ops}
	for range c.Threads() {
		t.threads = append(t.threads, newTiles(&ops))
	}
	c.RunParts(t, c.Threads()) // the threads' caches are cold
	const flops = 2 * tileSteps * asm.SplitSide * asm.SplitSide * asm.SplitSide * tileCalls
	return flops * float64(c.Threads()) / fastest(rounds, func() { c.RunParts(t, c.Threads()) }).Seconds()
}

// tileSteps is as many steps of 32 terms as keep the tiles of any number of parts in a first-level cache of
// 32 KiB; tileCalls make a round of Products last some 0.1 ms or more.
const tileSteps, tileCalls = 2, 100

// products is a round of Products.
type products struct {
	ops     *asm.SplitOps
	threads []asm.SplitTileArgs
}

// newTiles returns a block of sums with operands of zeros, which take whole pages and so begin at one.
func newTiles(o *asm.SplitOps) asm.SplitTileArgs {
	places := make([]int32, asm.SplitSide)
	sums := make([]float32, asm.SplitSide*asm.SplitSide)
	left, right := make([]uint32, tileSteps*o.StepWords()), make([]uint32, tileSteps*o.StepWords())
	return asm.SplitTileArgs{A: left, B: right, Sums: sums, Steps: tileSteps, Blocks: 1, Out: places,
		Dst: sums, Bias: sums, NextRows: places, Next: sums, NextB: right}
}

// Do works on one part's tiles.
func (t *products) Do(_, part, _ int) {
	for range tileCalls {
		t.ops.Tile(&t.threads[part])
	}
}

// streamBytes is about the least number of bytes that a round of Bandwidth moves, so that the clock is fine
// enough to time it.
const streamBytes = 1 << 20

// Bandwidth measures how many bytes per second all threads together read and write when they pass
// over work again and again: the best of scaling one half into the other (a read and a write),
// adding two thirds into the last (two reads and a write) and adding one half to the other in place
// (likewise). Traffic that caches add, such as reading a line before it is overwritten, does not
// count. Work, of at least 3 floats, is overwritten; its length decides which cache is measured. It
// takes some milliseconds, or three passes each.
func Bandwidth(c *compute.CPU, work []float32) float64 {
	h, t := len(work)/2, len(work)/3/asm.LineFloats*asm.LineFloats
	if t == 0 {
		t = len(work) / 3
	}
	rows := row.On(c)
	rows.Fill(work, 1)
	passes := 1 + streamBytes/(4*len(work))
	rounds := 3 + streamBytes*20/(4*len(work)*passes)
	rate := func(floats int, pass func()) float64 {
		d := fastest(rounds, func() {
			for range passes {
				pass()
			}
		})
		return 4 * float64(floats*passes) / d.Seconds()
	}
	a, b, sum := work[:t], work[t:2*t], work[2*t:3*t]
	return max(
		rate(2*h, func() { rows.Scale(work[h:2*h], work[:h], 1) }),
		rate(3*t, func() { rows.Add(sum, a, b) }),
		rate(3*h, func() { rows.Add(work[:h], work[:h], work[h:2*h]) }))
}

// fastest returns how long the fastest of n calls took.
func fastest(n int, call func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range n {
		begin := time.Now()
		call()
		best = min(best, time.Since(begin))
	}
	return max(best, 1)
}
