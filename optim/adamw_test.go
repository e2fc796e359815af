package optim_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/random"
)

// AdamW against PyTorch's formulas in float64, on every ISA, which all give the same bits.
func TestAdamWAgainstFormula(t *testing.T) {
	t.Run("default", func(t *testing.T) { checkAdamW(t, optim.Config{}, 0.9, 0.999, 1e-8) })
	given := optim.Config{Beta1: 0.8, Beta2: 0.95, Eps: 1e-3}
	t.Run("given", func(t *testing.T) { checkAdamW(t, given, 0.8, 0.95, 1e-3) })
}

func checkAdamW(t *testing.T, c optim.Config, beta1, beta2, eps float64) {
	const n, steps = 70_001, 4
	const lr, decay, scale = 0.01, 0.3, 0.25
	var first []float32
	for _, isa := range compute.Supported() {
		weights, w := make([]float32, n), make([]float64, n)
		m, v := make([]float64, n), make([]float64, n)
		for i := range w {
			weights[i] = random.Stream(1).Symmetric(uint64(i), 1)
			w[i] = float64(weights[i])
		}
		c.Name, c.LR, c.WeightDecay = "adamw", lr, decay
		o, err := optim.New(c, open(t, isa, 2), weights, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float32, n)
		for step := 1; step <= steps; step++ {
			for i := range g {
				g[i] = random.Stream(step+1).Symmetric(uint64(i), 4)
				x := float64(g[i]) * scale
				m[i] = beta1*m[i] + (1-beta1)*x
				v[i] = beta2*v[i] + (1-beta2)*x*x
				root := math.Sqrt(v[i] / (1 - math.Pow(beta2, float64(step))))
				w[i] = w[i]*(1-lr*decay) - lr*m[i]/(1-math.Pow(beta1, float64(step)))/(root+eps)
			}
			o.Step(0, n/2, g[:n/2], lr, scale)
			o.Step(n/2, n, g[n/2:], lr, scale)
		}
		for i := range w {
			if math.Abs(float64(weights[i])-w[i]) > 2e-6 {
				t.Fatalf("%v: weight %d is %v, want %v", isa, i, weights[i], w[i])
			}
			if first != nil && weights[i] != first[i] {
				t.Fatalf("%v: weight %d is %v, on another ISA %v", isa, i, weights[i], first[i])
			}
		}
		first = weights
	}
}
