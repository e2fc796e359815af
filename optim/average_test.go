package optim_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
)

// The formula of torch.nn.utils.clip_grad_norm_: a norm of 5 times 2, clipped to 1, and to 20.
func TestClip(t *testing.T) {
	for _, isa := range compute.Supported() {
		cpu, g := open(t, isa, 2), []float32{3, 0, 0, -4}
		if got, want := optim.NewClip(1, cpu, 4).Scale(g, 2), float32(2/(10+1e-6)); got != want {
			t.Errorf("%v: %v, want %v", isa, got, want)
		}
		if got := optim.NewClip(20, cpu, 4).Scale(g, 2); got != 2 {
			t.Errorf("%v: %v, want it as it was", isa, got)
		}
	}
}

func TestEMA(t *testing.T) {
	weights, state := []float32{1, 2}, []float32{8}
	e := optim.NewEMA(0.75, open(t, compute.Best(), 1), weights, state)
	weights[0], state[0] = 5, 0
	e.Update()
	e.Swap()
	if !slices.Equal(weights, []float32{2, 2}) || state[0] != 6 {
		t.Errorf("average %v %v, want [2 2] [6]", weights, state)
	}
	e.Swap()
	if !slices.Equal(weights, []float32{5, 2}) || state[0] != 0 {
		t.Errorf("live %v %v, want [5 2] [0]", weights, state)
	}
	e.Restart()
	e.Swap()
	if !slices.Equal(weights, []float32{5, 2}) || len(e.State()) != 2 {
		t.Errorf("average %v after a restart, want [5 2]; %d vectors", weights, len(e.State()))
	}
}

// The rule of the recipe for 94 % on CIFAR-10: with d = 0.95^5 (n/T)^3, slow = d slow + (1-d) fast after
// every fifth step, and the slow weights are the result. Each step adds n to the weight.
func TestLookahead(t *testing.T) {
	const steps = 17
	alpha := 1 - math.Pow(0.95, 5)
	w := []float32{1}
	l := optim.NewLookahead(optim.LookaheadConfig{Every: 5, Alpha: alpha, Power: 3},
		open(t, compute.Best(), 1), steps, w)
	fast, slow := 1.0, 1.0
	for n := 1; n <= steps; n++ {
		w[0] += float32(n)
		fast += float64(n)
		if n%5 == 0 {
			d := math.Pow(0.95, 5) * math.Pow(float64(n)/steps, 3)
			slow = d*slow + (1-d)*fast
			fast = slow
		}
		l.After(n)
		if math.Abs(float64(w[0])-fast) > 1e-4 {
			t.Errorf("after step %d: %v, want %v", n, w[0], fast)
		}
	}
	for _, want := range []float64{slow, fast} {
		if l.Swap(); math.Abs(float64(w[0])-want) > 1e-4 {
			t.Errorf("swapped after the last step: %v, want %v", w[0], want)
		}
	}
	plain := optim.NewLookahead(optim.LookaheadConfig{Every: 2, Alpha: 0.5}, open(t, compute.Best(), 1),
		10, w)
	w[0] = 4
	plain.Restart()
	for n := 1; n <= 2; n++ {
		w[0] += 4
		plain.After(n)
	}
	if w[0] != 8 {
		t.Errorf("half the way from 4 to 12 is %v", w[0])
	}
}

func TestParseLookahead(t *testing.T) {
	for text, want := range map[string]optim.LookaheadConfig{
		"": {}, "5,0.5": {Every: 5, Alpha: 0.5}, "5,0.2262,3": {Every: 5, Alpha: 0.2262, Power: 3},
	} {
		if got, err := optim.ParseLookahead(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"5", "0,0.5", "5,0", "5,1.5", "5,NaN", "5,0.5,-1",
		"5,0.5,x", "5,0.5,1,2", "0,0"} {
		if _, err := optim.ParseLookahead(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
