package optim

import (
	"fmt"
	"math"

	"lockstep/internal/kernel"
)

// AdamW is Adam with decoupled weight decay, exactly as torch.optim.AdamW defines it.
//
// With g the summed gradient, s the scale, d the weight decay, and t the number of the step from 1:
//
//	g = g*s
//	w = w * (1 - lr*d)
//	m = m + (g-m) * (1-beta1)              (m and v start at 0)
//	v = v*beta2 + g*g * (1-beta2)
//	w -= lr/(1-beta1^t) * m / (sqrt(v)/sqrt(1-beta2^t) + eps)
//
// in float32 and in one pass over memory. After Loshchilov and Hutter 2019, arXiv 1711.05101.
type AdamW struct {
	cpu                    *kernel.CPU
	weights, first, second []float32
	beta1, beta2, eps      float64
	weightDecay            float64
	power1, power2         float64 // beta1^t and beta2^t
}

// The settings that torch.optim.AdamW has by default.
const (
	adamWBeta1 = 0.9
	adamWBeta2 = 0.999
	adamWEps   = 1e-8
)

// NewAdamW returns AdamW over weights with moments of zero. The settings must be valid.
func NewAdamW(c Config, cpu *kernel.CPU, weights []float32) *AdamW {
	return &AdamW{
		cpu:         cpu,
		weights:     weights,
		first:       make([]float32, len(weights)),
		second:      make([]float32, len(weights)),
		beta1:       adamWBeta1,
		beta2:       adamWBeta2,
		eps:         adamWEps,
		weightDecay: c.WeightDecay,
		power1:      1,
		power2:      1,
	}
}

// Bytes returns the memory of the moments.
func (a *AdamW) Bytes() int64 { return 4 * int64(len(a.first)+len(a.second)) }

// State returns the moments.
func (a *AdamW) State() []Vector {
	return []Vector{{"exp_avg", a.first}, {"exp_avg_sq", a.second}}
}

// Resume computes the powers of the betas as that many steps do, so that the bits are theirs.
func (a *AdamW) Resume(steps int) {
	a.power1, a.power2 = 1, 1
	for range steps {
		a.power1 *= a.beta1
		a.power2 *= a.beta2
	}
}

// Step updates the weights [lo, hi). See Optimizer. The range that starts at 0 begins the next step.
func (a *AdamW) Step(lo, hi int, g []float32, lr float64, scale float32) {
	if len(g) != hi-lo {
		panic(fmt.Sprintf("optim: adamw: len(g)=%d for weights [%d,%d), want %d",
			len(g), lo, hi, hi-lo))
	}
	if lo == 0 {
		a.power1 *= a.beta1
		a.power2 *= a.beta2
	}
	a.cpu.AdamW(a.weights[lo:hi], a.first[lo:hi], a.second[lo:hi], g, kernel.AdamWStep{
		Scale: scale, Decay: float32(1 - float64(lr*a.weightDecay)), First: float32(1 - a.beta1),
		Second: float32(a.beta2), Rest: float32(1 - a.beta2),
		Rate: float32(lr / (1 - a.power1)), Root: float32(math.Sqrt(1 - a.power2)), Eps: float32(a.eps),
	})
}
