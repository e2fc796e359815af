package row

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// pilotRows is the number of rows whose mean shifts a block's values before they are summed. Changing it
// changes results (docs/design/0002).
const pilotRows = 16

// Moments computes the mean and the variance of every column of a matrix x, [rows, cols], block by block:
// in one call, or as the Finisher of the product that computes x, with the same bits.
//
//	mean[c] = sum_i x[i,c] / rows      biased[c] = sum_i (x[i,c]-mean[c])^2 / rows
//
// A block is shifted by p, a mean over a few of its rows, so that its sums of x-p and (x-p)^2 cancel no
// more than a few bits even where the mean is far larger than the deviation; it takes one pass. The
// blocks are merged in order in float64 by the formula of Chan, Golub and LeVeque 1979, "Updating
// formulae and a pairwise algorithm for computing sample variances". The results are the same for any
// number of threads and on every ISA; nothing is allocated.
type Moments struct {
	cpu  *CPU
	done momentBlocks
	cols int
	wide int       // floats in a wide row of rows side by side (see the note "column sums")
	acc  []float32 // [threads][3][wide]: the pilot and the sums of the block in progress
	sums []float32 // [blocks][3][cols]: the pilots and the sums

	x              []float32 // the matrix of the call in progress
	mean, biased   []float32 // results of the call in progress
	center, spread []float64 // mean and sum of squares around it of the blocks merged so far
}

// NewMoments plans the statistics of [rows, cols] in blocks of blockRows, all at least 1.
func (c *CPU) NewMoments(rows, cols, blockRows int) *Moments {
	mustShape("moments", rows, cols)
	if blockRows < 1 {
		panic(fmt.Sprintf("kernel: moments: blocks of %d rows, want at least 1", blockRows))
	}
	m := &Moments{cpu: c, cols: cols, wide: min(max(wideFloats/cols, 1), blockRows) * cols}
	m.done = momentBlocks{rows, blockRows}
	m.acc = make([]float32, c.Threads()*3*m.wide)
	m.sums = make([]float32, m.done.num()*3*cols)
	m.center, m.spread = make([]float64, cols), make([]float64, cols)
	return m
}

// Start names the matrix whose blocks will be finished. The caller keeps it unchanged until Result.
func (m *Moments) Start(x []float32) {
	MustLen("moments", "x", len(x), m.done.rows*m.cols)
	m.x = x
}

// Finish implements Finisher: it sums a block of x.
func (m *Moments) Finish(thread, block int) {
	ops, n := &m.cpu.ops.Element, m.cols
	x := m.x[block*m.done.blockRows*n : m.done.end(block)*n]
	acc := m.acc[thread*3*m.wide:][:3*m.wide]
	pilot, s, q := acc[:m.wide], acc[m.wide:2*m.wide], acc[2*m.wide:]
	clear(acc)
	rows := len(x) / n
	some := min(rows, pilotRows)
	for i := range some {
		ops.Add(pilot[:n], pilot[:n], x[i*rows/some*n:][:n])
	}
	ops.Scale(pilot[:n], pilot[:n], 1/float32(some))
	for k := n; k < m.wide; {
		k += copy(pilot[k:], pilot[:k])
	}
	for len(x) > 0 {
		k := min(m.wide, len(x))
		n := min(len(x)/k, max(callFloats/k, 1)) * k
		ops.Moments(s[:k], q[:k], x[:n], pilot[:k])
		x = x[n:]
	}
	sums := m.sums[block*3*n:][:3*n]
	copy(sums, pilot[:n])
	for i, sum := range [][]float32{s, q} {
		asm.Halve(sum, m.wide/n, n, ops.Add)
		copy(sums[(i+1)*n:], sum[:n])
	}
}

// Result computes the statistics of x after all blocks are finished, with unbiased = biased *
// rows/(rows-1), or 0 for a single row.
func (m *Moments) Result(mean, biased, unbiased []float32) {
	MustLen("moments", "mean", len(mean), m.cols)
	MustLen("moments", "biased", len(biased), m.cols)
	MustLen("moments", "unbiased", len(unbiased), m.cols)
	m.mean, m.biased = mean, biased
	m.cpu.Share((*momentsMerge)(m), len(m.sums))
	correction := float32(float64(m.done.rows) / float64(max(m.done.rows-1, 1)))
	for c, v := range biased {
		unbiased[c] = v * correction
	}
	m.x, m.mean, m.biased = nil, nil, nil
}

// Run computes the statistics of x in one call.
func (m *Moments) Run(mean, biased, unbiased, x []float32) {
	m.Start(x)
	if m.done.num() > 1 {
		m.cpu.Run((*momentsFinish)(m))
	} else {
		m.Finish(0, 0)
	}
	m.Result(mean, biased, unbiased)
}

// momentBlocks says how the rows are cut into blocks.
type momentBlocks struct{ rows, blockRows int }

// num returns the number of blocks.
func (b momentBlocks) num() int { return (b.rows + b.blockRows - 1) / b.blockRows }

// end returns the first row after block i.
func (b momentBlocks) end(i int) int { return min((i+1)*b.blockRows, b.rows) }

// momentsFinish sums the blocks.
type momentsFinish Moments

// Do finishes a run of blocks.
func (m *momentsFinish) Do(thread, part, parts int) {
	lo, hi := compute.Span(m.done.num(), part, parts)
	for b := lo; b < hi; b++ {
		(*Moments)(m).Finish(thread, b)
	}
}

// momentsMerge merges the blocks.
type momentsMerge Moments

// Do merges a run of columns.
func (m *momentsMerge) Do(_, part, parts int) {
	lo, hi := compute.Span(m.cols, part, parts)
	center, spread := m.center[lo:hi], m.spread[lo:hi]
	clear(center)
	clear(spread)
	for b := range m.done.num() {
		first := b * m.done.blockRows
		n, all := float64(m.done.end(b)-first), float64(m.done.end(b))
		inverse, share := 1/n, n/all
		weight := float64(first) * share
		sums := m.sums[b*3*m.cols:]
		pilot, s, q := sums[lo:hi], sums[m.cols+lo:m.cols+hi], sums[2*m.cols+lo:2*m.cols+hi]
		for c := range center {
			shift := float64(float64(s[c]) * inverse)
			delta := float64(pilot[c]) + shift - center[c]
			center[c] += float64(delta * share)
			around := float64(q[c]) - float64(float64(s[c])*shift)
			spread[c] += around + float64(float64(delta*delta)*weight)
		}
	}
	rows := float64(m.done.rows)
	for c := range center {
		m.mean[lo+c] = float32(center[c])
		m.biased[lo+c] = float32(max(spread[c]/rows, 0))
	}
}
