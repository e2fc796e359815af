package optim_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/random"
)

func open(t *testing.T, isa compute.ISA, threads int) *compute.CPU {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	return cpu
}

// TestSGDByHand follows two steps of torch.optim.SGD(lr=0.5, momentum=0.5, weight_decay=0.25) on
// w = (1, -2) with the gradients (1, 0.5) and (-1, 2). All numbers are exact in binary.
//
// Step 1: g = (1.25, 0), v = g. Plain w = (0.375, -2). Nesterov g+0.5v = (1.875, 0), so
// w = (0.0625, -2).
// Step 2, plain: g = (-0.90625, 1.5), v = 0.5v+g = (-0.28125, 1.5), w = (0.515625, -2.75).
// Step 2, Nesterov: g = (-0.984375, 1.5), v = (-0.359375, 1.5), g+0.5v = (-1.1640625, 2.25),
// w = (0.64453125, -3.125).
func TestSGDByHand(t *testing.T) {
	for _, c := range []struct {
		nesterov bool
		want     [2][2]float32
	}{
		{false, [2][2]float32{{0.375, -2}, {0.515625, -2.75}}},
		{true, [2][2]float32{{0.0625, -2}, {0.64453125, -3.125}}},
	} {
		w := []float32{1, -2}
		o, err := optim.New(optim.Config{LR: 0.5, Momentum: 0.5, WeightDecay: 0.25,
			Nesterov: c.nesterov}, open(t, compute.Plain, 1), w, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The gradients are sums over four samples.
		for i, g := range [][]float32{{4, 2}, {-4, 8}} {
			o.Step(0, 2, g, 0.5, 0.25)
			if [2]float32(w) != c.want[i] {
				t.Errorf("nesterov %v, step %d: %v, want %v", c.nesterov, i+1, w, c.want[i])
			}
		}
	}
}

// sgd is PyTorch's update written plainly, in float64.
func sgd(c optim.Config, w, v, g []float64, scale float64) {
	for i := range w {
		d := g[i]*scale + c.WeightDecay*w[i]
		v[i] = c.Momentum*v[i] + d
		if c.Nesterov {
			w[i] -= c.LR * (d + c.Momentum*v[i])
		} else {
			w[i] -= c.LR * v[i]
		}
	}
}

func TestSGDAgainstFormula(t *testing.T) {
	const n, steps = 1003, 5
	for _, isa := range compute.Supported() {
		for _, c := range []optim.Config{
			{LR: 0.1},
			{LR: 0.1, WeightDecay: 0.01},
			{LR: 0.05, Momentum: 0.9, WeightDecay: 1e-4},
			{LR: 0.05, Momentum: 0.9, WeightDecay: 1e-4, Nesterov: true},
		} {
			t.Run(fmt.Sprintf("%v/momentum=%v/nesterov=%v", isa, c.Momentum, c.Nesterov),
				func(t *testing.T) { compare(t, isa, c, n, steps) })
		}
	}
}

// compare steps ranges of uneven length with one and two threads, which must agree exactly.
func compare(t *testing.T, isa compute.ISA, c optim.Config, n, steps int) {
	draw := random.Derive(7)
	var got [2][]float32
	for threads := 1; threads <= 2; threads++ {
		w, want := make([]float32, n), make([]float64, n)
		for i := range w {
			w[i] = draw.Symmetric(uint64(i), 1)
			want[i] = float64(w[i])
		}
		o, err := optim.New(c, open(t, isa, threads), w, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, g, g64 := make([]float64, n), make([]float32, n), make([]float64, n)
		for step := range steps {
			for i := range g {
				g[i] = draw.Symmetric(uint64((step+1)*n+i), 3)
				g64[i] = float64(g[i])
			}
			for _, r := range [][2]int{{0, 7}, {600, n}, {7, 600}} {
				o.Step(r[0], r[1], g[r[0]:r[1]], c.LR, 1.0/48)
			}
			sgd(c, want, v, g64, 1.0/48)
		}
		for i := range w {
			if math.Abs(float64(w[i])-want[i]) > 1e-6 {
				t.Fatalf("threads %d: w[%d] = %v, want %v", threads, i, w[i], want[i])
			}
		}
		got[threads-1] = w
	}
	for i := range got[0] {
		if got[0][i] != got[1][i] {
			t.Fatalf("w[%d] = %v with one thread, %v with two", i, got[0][i], got[1][i])
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	o, err := optim.New(optim.Config{LR: 0.1, Momentum: 0.9}, open(t, compute.Plain, 1),
		make([]float32, 100), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := optim.ScheduleConfig{Name: "cosine", Warmup: 1}.Build(0.1, 10, 2)
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float32, 100)
	if n := testing.AllocsPerRun(20, func() { o.Step(0, 100, g, s.Rate(5), 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []optim.Config{
		{Name: "adam"}, {LR: -1}, {LR: math.NaN()}, {LR: math.Inf(1)}, {Momentum: 1},
		{Momentum: -0.1}, {Momentum: math.NaN()}, {WeightDecay: -1}, {WeightDecay: math.NaN()},
		{LR: 0.1, Nesterov: true},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v: no error", c)
		}
		if _, err := optim.New(c, nil, nil, nil); err == nil {
			t.Errorf("New(%+v): no error", c)
		}
	}
	valid := optim.Config{Name: "sgd", LR: 0.1, Momentum: 0.9, Nesterov: true}
	if err := valid.Validate(); err != nil {
		t.Error(err)
	}
}
