package product_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"

	"pgregory.net/rapid"
)

// Linear layers by Strassen's algorithm have the same bits on any number of threads, whether or not strips
// are copied and whether or not the plan was for more rows, and finish every row once.
func TestStrassenRandomShapes(t *testing.T) {
	if compute.Best() == compute.Plain {
		t.Skip("takes minutes without assembly; TestFastMatchesDefinition has some of these shapes")
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		s := product.ConvShape{N: draw(384, 1100, "N"), H: 1, W: 1, C: 128 * draw(2, 4, "C/128"),
			K: 128 * draw(2, 4, "K/128"), R: 1, S: 1, Stride: 1}
		x, w := filled(t, s.N*s.C, noise(1)), filled(t, s.C*s.K, noise(2))
		dy := filled(t, s.N*s.K, noise(3))
		isa := rapid.SampledFrom(compute.Supported()[1:]).Draw(t, "ISA")
		one := strassenRun(t, isa, 1, s, s.N, true, x, w, dy)
		again := strassenRun(t, isa, draw(1, 9, "threads"), s, s.N+draw(0, 700, "more"),
			rapid.Bool().Draw(t, "apart"), x, w, dy)
		if !one.equal(again) {
			t.Error("other bits")
		}
	})
}

// strassenRun computes all directions on a plan for planned rows, with a Finisher.
func strassenRun(t *rapid.T, isa compute.ISA, threads int, s product.ConvShape, planned int, apart bool,
	x, w, dy []float32) convResult {
	c, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cpu := product.On(c)
	cpu.ReadApart(apart)
	rows := s.N
	s.N = planned
	v := cpu.NewConv(s)
	v.Resize(rows)
	if forward, data := v.Choice(); forward != "strassen" || data != "strassen" {
		t.Fatalf("computed by %s and %s", forward, data)
	}
	r := convResult{filled(t, rows*s.K, nan), filled(t, rows*s.C, nan), filled(t, s.C*s.K, nan)}
	scratch := filled(t, v.ScratchFloats(), nan)
	f := newCopyRows(r.y, v.FinishRows()*s.K)
	v.Forward(r.y, x, w, nil, false, f, scratch)
	v.BackwardData(r.dx, dy, w, false, scratch)
	v.BackwardWeights(r.dw, x, dy, scratch)
	f.check(t, "forward")
	return r
}

// Maps of one pixel with padding are no linear layers, and few rows are computed directly, also by a plan for
// more.
func TestStrassenIsForManyRows(t *testing.T) {
	c := product.On(kerneltest.Open(t, compute.Best(), 1))
	padded := c.NewConv(product.ConvShape{384, 1, 1, 256, 256, 1, 1, 1, 1})
	few := c.NewConv(product.ConvShape{383, 1, 1, 256, 256, 1, 1, 1, 0})
	resized := c.NewConv(product.ConvShape{1000, 1, 1, 256, 256, 1, 1, 1, 0})
	resized.Resize(383)
	for name, v := range map[string]*product.Conv{"padded": padded, "few": few, "resized": resized} {
		if forward, data := v.Choice(); forward == "strassen" || data == "strassen" {
			t.Errorf("%s: computed by %s and %s", name, forward, data)
		}
	}
}
