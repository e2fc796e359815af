package row_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// elementwise lists the element-wise operations: what to call, which may change out and both inputs,
// and what it computes.
var elementwise = []struct {
	name string
	run  func(c *row.CPU, out, a, b []float32)
	want func(out, a, b float64) float64
}{
	{"fill", func(c *row.CPU, out, a, b []float32) { c.Fill(out, 1.5) },
		func(out, a, b float64) float64 { return 1.5 }},
	{"scale", func(c *row.CPU, out, a, b []float32) { c.Scale(out, a, -0.3) },
		func(out, a, b float64) float64 { return a * float64(float32(-0.3)) }},
	{"scale in place", func(c *row.CPU, out, a, b []float32) { c.Scale(out, out, 3) },
		func(out, a, b float64) float64 { return out * 3 }},
	{"add", func(c *row.CPU, out, a, b []float32) { c.Add(out, a, b) },
		func(out, a, b float64) float64 { return a + b }},
	{"add in place", func(c *row.CPU, out, a, b []float32) { c.Add(out, out, b) },
		func(out, a, b float64) float64 { return out + b }},
	{"relu", func(c *row.CPU, out, a, b []float32) { c.ReLU(out, a) },
		func(out, a, b float64) float64 { return math.Max(a, 0) }},
	{"relu backward", func(c *row.CPU, out, a, b []float32) { c.ReLUBackward(out, a, b) },
		func(out, a, b float64) float64 {
			if b <= 0 {
				return 0
			}
			return a
		}},
	{"sgd", func(c *row.CPU, out, a, b []float32) {
		c.SGD(out, a, b, 0.125, 0.75, 0.5, 0.25, false)
	}, func(w, v, grad float64) float64 {
		return w - 0.125*(0.75*v+grad*0.25+0.5*w)
	}},
	{"sgd nesterov", func(c *row.CPU, out, a, b []float32) {
		c.SGD(out, a, b, 0.125, 0.75, 0.5, 0.25, true)
	}, func(w, v, grad float64) float64 {
		d := grad*0.25 + 0.5*w
		return w - 0.125*(d+0.75*(0.75*v+d))
	}},
}

// lengths returns sizes that several threads share in ragged parts of several calls each; for one thread
// also every tail of both vector widths.
func lengths(threads int) []int {
	list := []int{1000, 65537, 199991}
	for n := 0; n < 70 && threads == 1; n++ {
		list = append(list, n)
	}
	return list
}

func TestElementwiseAgainstPlain(t *testing.T) {
	plain := kerneltest.Open(t, compute.Plain, 1)
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, op := range elementwise {
			for _, n := range lengths(c.Threads()) {
				out, a, b := kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n,
					0, 3)
				kerneltest.Odd(out, 4)
				kerneltest.Odd(a, 5)
				kerneltest.Odd(b, 6)
				wantOut, wantA := kerneltest.Clone(t, out), kerneltest.Clone(t, a)
				op.run(row.On(plain), wantOut, wantA, b)
				op.run(row.On(c), out, a, b)
				kerneltest.SameBits(t, fmt.Sprintf("%s of %d: out", op.name, n), out, wantOut)
				kerneltest.SameBits(t, fmt.Sprintf("%s of %d: a", op.name, n), a, wantA)
			}
		}
	})
}

func TestElementwisePlainAgainstFloat64(t *testing.T) {
	plain := kerneltest.Open(t, compute.Plain, 1)
	for _, op := range elementwise {
		out, a, b := kerneltest.Draw(t, 500, 0, 1), kerneltest.Draw(t, 500, 0, 2), kerneltest.Draw(t, 500, 0,
			3)
		want := make([]float64, len(out))
		for i := range out {
			want[i] = op.want(float64(out[i]), float64(a[i]), float64(b[i]))
		}
		op.run(row.On(plain), out, a, b)
		kerneltest.Near(t, op.name, out, want, 2e-7, 2)
	}
}

func TestReLUKeepsNaN(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		nan := float32(math.NaN())
		x := []float32{nan, -1, 2}
		row.On(c).ReLU(x, x)
		kerneltest.SameBits(t, "relu", x, []float32{nan, 0, 2})
		dx := make([]float32, 3)
		row.On(c).ReLUBackward(dx, []float32{5, 6, 7}, x)
		kerneltest.SameBits(t, "relu backward", dx, []float32{5, 0, 7})
	})
}

func TestElementwiseDoesNotAllocate(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	out, a, b := kerneltest.Draw(t, 70000, 0, 1), kerneltest.Draw(t, 70000, 0, 2), kerneltest.Draw(t, 70000,
		0, 3)
	rows := row.On(c)
	for _, op := range elementwise {
		if n := alloctest.Least(20, func() { op.run(rows, out, a, b) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", op.name, n)
		}
	}
}

func TestElementwisePanics(t *testing.T) {
	c := kerneltest.Open(t, compute.Plain, 1)
	defer func() {
		const want = "kernel: add: len(b)=3, want 4"
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	row.On(c).Add(make([]float32, 4), make([]float32, 4), make([]float32, 3))
}

// GELU, its derivative and tanh are as near to the functions as their documentation says.
func TestNearFunctions(t *testing.T) {
	c := row.On(kerneltest.Open(t, compute.Best(), 1))
	const n = 200_000
	x, ones := make([]float32, n), make([]float32, n)
	gelu, slope, tanh := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], ones[i] = float32(i-n/2)*1e-4, 1
	}
	c.GELU(gelu, x)
	c.GELUBackward(slope, ones, x)
	c.Tanh(tanh, x)
	for i, v := range x {
		x := float64(v)
		phi := 0.5 * math.Erfc(-x/math.Sqrt2)
		if e := math.Abs(float64(gelu[i]) - x*phi); e > 4e-7*math.Abs(x) {
			t.Errorf("gelu(%v) is off by %.2g", v, e)
		}
		want := phi + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
		if e := math.Abs(float64(slope[i]) - want); e > 4e-7 {
			t.Errorf("the derivative of gelu at %v is off by %.2g", v, e)
		}
		if e := math.Abs(float64(tanh[i]) - math.Tanh(x)); e > 0x1p-24*math.Abs(math.Tanh(x))+4e-16 {
			t.Errorf("tanh(%v) is off by %.2g", v, e)
		}
	}
}
