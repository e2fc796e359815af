package optim

import (
	"cmp"
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/row"
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
	cpu                    *row.CPU
	weights, first, second []float32
	beta1, beta2, eps      float64
	stretches              []stretch
	step                   int     // t
	power1, power2         float64 // beta1^t and beta2^t
}

// The defaults of torch.optim.AdamW.
const (
	adamWBeta1 = 0.9
	adamWBeta2 = 0.999
	adamWEps   = 1e-8
)

// newAdamW returns AdamW over weights with zero moments. The settings must be valid.
func newAdamW(c Config, cpu *compute.CPU, weights []float32, params []Param) (*AdamW, error) {
	stretches, err := c.stretches(params, len(weights))
	if err != nil {
		return nil, err
	}
	return &AdamW{
		cpu:       row.On(cpu),
		weights:   weights,
		first:     make([]float32, len(weights)),
		second:    make([]float32, len(weights)),
		beta1:     cmp.Or(c.Beta1, adamWBeta1),
		beta2:     cmp.Or(c.Beta2, adamWBeta2),
		eps:       cmp.Or(c.Eps, adamWEps),
		stretches: stretches,
		power1:    1,
		power2:    1,
	}, nil
}

// Bytes returns the size of the moments.
func (a *AdamW) Bytes() int64 { return 4 * int64(len(a.first)+len(a.second)) }

// State returns the moments.
func (a *AdamW) State() []Vector {
	return []Vector{{"exp_avg", a.first}, {"exp_avg_sq", a.second}}
}

// Resume computes the powers of the betas step by step, so that they have the same bits.
func (a *AdamW) Resume(steps int) {
	a.step, a.power1, a.power2 = 0, 1, 1
	for range steps {
		a.begin()
	}
}

// begin counts a step.
func (a *AdamW) begin() {
	a.step++
	a.power1 *= a.beta1
	a.power2 *= a.beta2
}

// Step updates the weights [lo, hi). See Optimizer.
func (a *AdamW) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("adamw", lo, hi, g)
	if lo == 0 {
		a.begin()
	}
	for i := range a.stretches {
		q := &a.stretches[i]
		if from, to := q.within(lo, hi); from < to && !q.isFrozen(a.step) {
			a.update(a.weights[from:to], from, g[from-lo:to-lo], lr*q.rate, q.decay, scale)
		}
	}
}

// update writes the new weights to w, which holds the old ones; w begins at weight number from.
func (a *AdamW) update(w []float32, from int, g []float32, lr, decay float64, scale float32) {
	to := from + len(w)
	a.cpu.AdamW(w, a.first[from:to], a.second[from:to], g, row.AdamWStep(a.factors(lr, decay, scale)))
}

// factors returns the factors of the present step.
func (a *AdamW) factors(lr, decay float64, scale float32) AdamWStep {
	return AdamWStep{
		Scale: scale, Decay: float32(1 - float64(lr*decay)), First: float32(1 - a.beta1),
		Second: float32(a.beta2), Rest: float32(1 - a.beta2),
		Rate: float32(lr / (1 - a.power1)), Root: float32(math.Sqrt(1 - a.power2)), Eps: float32(a.eps),
	}
}
