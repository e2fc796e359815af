package optim

import (
	"cmp"

	"lockstep/compute"
)

// LAMB is Adam with steps scaled by each layer's norm, for large batches (You et al. 2019, arXiv
// 1904.00962, algorithm 2).
//
// With g the summed gradient of a layer, s the scale, d the weight decay and t the number of the step
// from 1:
//
//	g = g*s
//	m = m + (g-m) * (1-beta1)                                        (m and v start at 0)
//	v = v*beta2 + g*g * (1-beta2)
//	u = m/(1-beta1^t) / (sqrt(v)/sqrt(1-beta2^t) + eps) + d*w
//	w -= lr * |w|/|u| * u
//
// where |x| is the root of the sum of squares. The ratio is 1 where a norm is 0 and, as in the
// authors' program, for biases and the gains of norms.
type LAMB struct {
	adam   AdamW // the moments
	layers []layer
	norm   norm
	u      []float32 // -u of the current layer
}

// lambEps is the paper's epsilon.
const lambEps = 1e-6

// newLAMB returns LAMB over weights with zero moments. The settings must be valid.
func newLAMB(c Config, cpu *compute.CPU, weights []float32, params []Param) (*LAMB, error) {
	layers, err := c.wholeLayers(params, len(weights))
	if err != nil {
		return nil, err
	}
	adam, err := newAdamW(c, cpu, weights, params)
	if err != nil {
		return nil, err
	}
	adam.eps = cmp.Or(c.Eps, lambEps)
	return &LAMB{adam: *adam, layers: layers, norm: newNorm(cpu, layers),
		u: make([]float32, largest(layers))}, nil
}

// Bytes returns the size of the moments and of one layer.
func (l *LAMB) Bytes() int64 { return l.adam.Bytes() + 4*int64(len(l.u)) }

// State returns the moments.
func (l *LAMB) State() []Vector { return l.adam.State() }

// Resume continues after that many steps. See AdamW.
func (l *LAMB) Resume(steps int) { l.adam.Resume(steps) }

// Step updates the weights [lo, hi). See Optimizer.
func (l *LAMB) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("lamb", lo, hi, g)
	a := &l.adam
	if lo == 0 {
		a.begin()
	}
	for i := range l.layers {
		q := &l.layers[i]
		if !q.isIn("lamb", lo, hi) || q.isFrozen(a.step) {
			continue
		}
		from, to := q.Offset, q.Offset+q.Len
		w, u := a.weights[from:to], l.u[:q.Len]
		// A step of AdamW from -d*w, at a rate of 1 and without decay, ends at -u.
		a.cpu.Scale(u, w, float32(-q.decay))
		a.update(u, from, g[from-lo:to-lo], 1, 0, scale)
		ratio := 1.0
		if q.Kind != Bias {
			if length, step := l.norm.of(w), l.norm.of(u); length > 0 && step > 0 {
				ratio = length / step
			}
		}
		a.cpu.AddScaled(w, w, u, float32(lr*q.rate*ratio))
	}
}
