package row

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// Element-wise operations. They give the same bits for any number of threads and on every ISA.

// callFloats bounds the elements handed to one inner loop, because Go cannot preempt assembly:
// 64 KiB per stream take about 10 us.
const callFloats = 16384

// elementwise is an element-wise call in progress.
type elementwise struct {
	ops       *asm.ElementOps
	row       *asm.RowOps
	loop      func(e *elementwise, lo, hi int) // computes elements [lo, hi)
	n         int
	dst, a, b []float32
	c         []float32
	factor    float32
	step      sgdStep
	adamW     AdamWStep
	weight    int // time per element, in additions; 0 means 1
}

// each runs the element-wise call e. The operands live in c, so that nothing is allocated.
func (c *CPU) each(e elementwise) {
	e.ops, e.row = &c.ops.Element, &c.ops.Row
	c.element = e
	c.Share(&c.element, e.n*max(e.weight, 1))
	c.element = elementwise{}
}

// Do computes one run of elements.
func (e *elementwise) Do(_, part, parts int) {
	lo, hi := compute.Span((e.n+asm.LineFloats-1)/asm.LineFloats, part, parts)
	hi = min(hi*asm.LineFloats, e.n)
	for lo *= asm.LineFloats; lo < hi; lo += callFloats {
		e.loop(e, lo, min(lo+callFloats, hi))
	}
}

// ReLU computes y = max(x, 0), keeping NaN. y may be x.
func (c *CPU) ReLU(y, x []float32) {
	MustLen("relu", "x", len(x), len(y))
	c.each(elementwise{n: len(y), dst: y, a: x, loop: func(e *elementwise, lo, hi int) {
		e.ops.Relu(e.dst[lo:hi], e.a[lo:hi])
	}})
}

// ReLUBackward computes dx = dy where the output y of ReLU is above 0 or NaN, else 0. dx may be dy or y.
func (c *CPU) ReLUBackward(dx, dy, y []float32) {
	MustLen("relu backward", "dy", len(dy), len(dx))
	MustLen("relu backward", "y", len(y), len(dx))
	c.each(elementwise{n: len(dx), dst: dx, a: dy, b: y, loop: func(e *elementwise, lo, hi int) {
		e.ops.ReluBackward(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi])
	}})
}

// Add computes dst = a + b. dst may be a or b.
func (c *CPU) Add(dst, a, b []float32) {
	MustLen("add", "a", len(a), len(dst))
	MustLen("add", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, loop: func(e *elementwise, lo, hi int) {
		e.ops.Add(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi])
	}})
}

// AddScaled computes dst = a + b*factor. dst may be a or b.
func (c *CPU) AddScaled(dst, a, b []float32, factor float32) {
	MustLen("add scaled", "a", len(a), len(dst))
	MustLen("add scaled", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.row.AddScaled(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.factor)
		}})
}

// Lerp computes dst = a + (b-a)*factor, which is a where both are equal. dst may be a or b.
func (c *CPU) Lerp(dst, a, b []float32, factor float32) {
	MustLen("lerp", "a", len(a), len(dst))
	MustLen("lerp", "b", len(b), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: a, b: b, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.row.Lerp(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.factor)
		}})
}

// Scale computes dst = x * factor. dst may be x.
func (c *CPU) Scale(dst, x []float32, factor float32) {
	MustLen("scale", "x", len(x), len(dst))
	c.each(elementwise{n: len(dst), dst: dst, a: x, factor: factor,
		loop: func(e *elementwise, lo, hi int) {
			e.ops.Scale(e.dst[lo:hi], e.a[lo:hi], e.factor)
		}})
}

// Fill sets every element of dst to value.
func (c *CPU) Fill(dst []float32, value float32) {
	c.each(elementwise{n: len(dst), dst: dst, factor: value,
		loop: func(e *elementwise, lo, hi int) { e.ops.Fill(e.dst[lo:hi], e.factor) }})
}

// MustLen panics unless the slice called name has length want.
func MustLen(op, name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: %s: len(%s)=%d, want %d", op, name, got, want))
	}
}
