package kernel

import "time"

// Note: what a machine can reach.
//
// PeakFLOPs and Bandwidth measure the two limits of every kernel on the spot, with the threads and the
// inner loops of this CPU. Other work on the machine only ever slows a measurement down, so each
// is the fastest of several rounds.

// peakOps multiplies and adds in registers, as nothing but the arithmetic limits it.
type peakOps struct {
	// run replaces each of sums, floats of them, by half of itself plus one, turns times.
	run    func(sums []float32, turns int)
	floats int
}

const (
	// peakTurns makes a call of run last about 10 us, since Go cannot preempt assembly.
	peakTurns  = 5000
	peakCalls  = 50 // in a round, about half a millisecond
	peakRounds = 16
)

// PeakFLOPs measures how many additions and multiplications per second all threads reach together
// with fused multiply-adds (a product, then a sum, on Plain) on independent values in registers. It
// takes about 10 ms.
func (c *CPU) PeakFLOPs() float64 {
	t := &peakTask{ops: &c.ops.peak, sums: make([]float32, c.Threads()*c.ops.peak.floats)}
	work := 2 * float64(len(t.sums)) * peakTurns * peakCalls
	return work / fastest(peakRounds, func() { c.RunParts(t, c.Threads()) }).Seconds()
}

// peakTask is a round of PeakFLOPs.
type peakTask struct {
	ops  *peakOps
	sums []float32
}

// Do works on one part's sums.
func (t *peakTask) Do(_, part, _ int) {
	n := t.ops.floats
	for range peakCalls {
		t.ops.run(t.sums[part*n:(part+1)*n], peakTurns)
	}
}

// streamBytes is about how much a round of Bandwidth moves at least, so that its clock is fine
// enough.
const streamBytes = 1 << 20

// Bandwidth measures how many bytes per second all threads together read and write when they pass
// over work again and again: the best of scaling one half into the other (a read and a write),
// adding two thirds into the last (two reads and a write) and adding one half to the other in place
// (likewise). Traffic that caches add, such as reading a line before it is overwritten, does not
// count. Work, of at least 3 floats, is overwritten; its length decides which cache is measured. It
// takes some milliseconds, or three passes each.
func (c *CPU) Bandwidth(work []float32) float64 {
	h, t := len(work)/2, len(work)/3/lineFloats*lineFloats
	if t == 0 {
		t = len(work) / 3
	}
	c.Fill(work, 1)
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
		rate(2*h, func() { c.Scale(work[h:2*h], work[:h], 1) }),
		rate(3*t, func() { c.Add(sum, a, b) }),
		rate(3*h, func() { c.Add(work[:h], work[:h], work[h:2*h]) }))
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

// plainPeak returns the portable loop.
func plainPeak() peakOps { return peakOps{run: peakPlain, floats: 8} }

// peakPlain works on eight sums at a time, which the compiler keeps in registers.
func peakPlain(sums []float32, turns int) {
	for ; len(sums) > 0; sums = sums[8:] {
		a, b, c, d := sums[0], sums[1], sums[2], sums[3]
		e, f, g, h := sums[4], sums[5], sums[6], sums[7]
		for range turns {
			a, b = float32(a*0.5)+1, float32(b*0.5)+1
			c, d = float32(c*0.5)+1, float32(d*0.5)+1
			e, f = float32(e*0.5)+1, float32(f*0.5)+1
			g, h = float32(g*0.5)+1, float32(h*0.5)+1
		}
		sums[0], sums[1], sums[2], sums[3] = a, b, c, d
		sums[4], sums[5], sums[6], sums[7] = e, f, g, h
	}
}
