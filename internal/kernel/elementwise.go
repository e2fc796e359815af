package kernel

import "fmt"

// Element-wise operations. They give the same bits for any number of threads and on every ISA.

const (
	// lineFloats is a cache line: cuts between threads fall on its multiples, counted from the start
	// of the slice.
	lineFloats = 16
	// callFloats bounds the elements handed to one inner loop, because Go cannot preempt assembly:
	// 64 KiB per stream take about 10 us.
	callFloats = 16384
	// serialFloats is the size below which a call stays on its own thread: it takes some 10 us then,
	// and waking the others would cost more than they save.
	serialFloats = 65536
)

// share runs t, on all threads if it touches enough elements to be worth waking them.
func (c *CPU) share(t Task, elems int) {
	if elems < serialFloats {
		t.Do(0, 0, 1)
		return
	}
	c.Run(t)
}

// elementwise is an element-wise call in progress.
type elementwise struct {
	ops       *elementOps
	row       *rowOps
	loop      func(e *elementwise, lo, hi int) // computes elements [lo, hi)
	n         int
	dst, a, b []float32
	c         []float32
	factor    float32
	step      sgdStep
	adamW     AdamWStep
	weight    int // how many times the time of a sum an element takes; 0 means 1
}

// each runs the element-wise call e. The operands live in c, so that nothing is allocated.
func (c *CPU) each(e elementwise) {
	e.ops, e.row = &c.ops.element, &c.ops.row
	c.element = e
	c.share(&c.element, e.n*max(e.weight, 1))
	c.element = elementwise{}
}

// Do computes one run of elements.
func (e *elementwise) Do(_, part, parts int) {
	lo, hi := span((e.n+lineFloats-1)/lineFloats, part, parts)
	hi = min(hi*lineFloats, e.n)
	for lo *= lineFloats; lo < hi; lo += callFloats {
		e.loop(e, lo, min(lo+callFloats, hi))
	}
}

// ReLU computes y = max(x, 0), keeping NaN. y may be x.
func (c *CPU) ReLU(y, x []float32) {
	mustLen("relu", "x", len(x), len(y))
	c.each(elementwise{n: len(y), dst: y, a: x, loop: func(e *elementwise, lo, hi int) {
		e.ops.relu(e.dst[lo:hi], e.a[lo:hi])
	}})
}

// ReLUBackward computes dx = dy where the output y of ReLU is above 0 or NaN, else 0. dx may be dy or y.
func (c *CPU) ReLUBackward(dx, dy, y []float32) {
	mustLen("relu backward", "dy", len(dy), len(dx))
	mustLen("relu backward", "y", len(y), len(dx))
	c.each(elementwise{n: len(dx), dst: dx, a: dy, b: y, loop: func(e *elementwise, lo, hi int) {
		e.ops.reluBackward(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi])
	}})
}

// Add computes dst = a + b. dst may be a or b.
func (c *CPU) Add(dst, a, b []float32) {
	mustLen("add", "a", len(a), len(dst))
	mustLen("add", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, loop: func(e *elementwise, lo, hi int) {
		e.ops.add(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi])
	}})
}

// AddScaled computes dst = a + b*factor. dst may be a or b.
func (c *CPU) AddScaled(dst, a, b []float32, factor float32) {
	mustLen("add scaled", "a", len(a), len(dst))
	mustLen("add scaled", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.row.addScaled(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.factor)
		}})
}

// Lerp computes dst = a + (b-a)*factor, which is a where both are equal. dst may be a or b.
func (c *CPU) Lerp(dst, a, b []float32, factor float32) {
	mustLen("lerp", "a", len(a), len(dst))
	mustLen("lerp", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.row.lerp(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.factor)
		}})
}

// Scale computes dst = x * factor. dst may be x.
func (c *CPU) Scale(dst, x []float32, factor float32) {
	mustLen("scale", "x", len(x), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: x, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.ops.scale(e.dst[lo:hi], e.a[lo:hi], e.factor)
		}})
}

// Fill sets every element of dst to value.
func (c *CPU) Fill(dst []float32, value float32) {
	c.each(elementwise{n: len(dst), dst: dst, factor: value,
		loop: func(e *elementwise, lo, hi int) { e.ops.fill(e.dst[lo:hi], e.factor) }})
}

// mustLen panics unless the slice called name has length want.
func mustLen(op, name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: %s: len(%s)=%d, want %d", op, name, got, want))
	}
}
