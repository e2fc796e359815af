package optim

import (
	"math"

	"lockstep/compute"
)

// Muon orthogonalizes every step of a matrix approximately (Jordan et al. 2024,
// kellerjordan.github.io/posts/muon; the factor of the rate after Liu et al. 2025, arXiv
// 2502.16982, section 2.2), as torch.optim.Muon with adjust_lr_fn="match_rms_adamw" does.
//
// With g the summed gradient of a matrix of A by B, s the scale, d the weight decay and m the momentum:
//
//	g = g*s
//	v = v + (g-v) * (1-m)                 (v starts at 0)
//	u = v                                 (Nesterov: u = g + (v-g)*m)
//	w = w * (1 - lr*d)
//	w -= lr * 0.2*sqrt(max(A, B)) * orthogonal(u)
//
// Convolutions count as matrices of [outputs, all other axes]. Biases, gains of norms, embeddings
// and the last layer are updated as by AdamW at the same rate, which the factor makes possible.
type Muon struct {
	adam     AdamW // of the others; its first moments are the matrices' v
	layers   []layer
	momentum float32
	nesterov bool
	plans    []*orthogonal // by layer; nil for the others
	room     int64         // size of the plans in bytes
	g, u     []float32     // of the current layer
}

// newMuon returns Muon over weights with zero moments. The settings must be valid.
func newMuon(c Config, cpu *compute.CPU, weights []float32, params []Param) (*Muon, error) {
	layers, err := c.wholeLayers(params, len(weights))
	if err != nil {
		return nil, err
	}
	adam, err := newAdamW(c, cpu, weights, params)
	if err != nil {
		return nil, err
	}
	m := &Muon{adam: *adam, layers: layers, momentum: float32(c.Momentum), nesterov: c.Nesterov,
		g: make([]float32, largest(layers)), u: make([]float32, largest(layers))}
	m.plans, m.room = planMatrices(cpu, layers)
	return m, nil
}

// Bytes returns the size of the moments, of two layers, and of the products of each size of matrix.
func (m *Muon) Bytes() int64 { return m.adam.Bytes() + 4*int64(len(m.g)+len(m.u)) + m.room }

// State returns the moments; the first moments of matrices are their momentum.
func (m *Muon) State() []Vector { return m.adam.State() }

// Resume continues after that many steps. See AdamW.
func (m *Muon) Resume(steps int) { m.adam.Resume(steps) }

// Step updates the weights [lo, hi). See Optimizer. A matrix of R rows and C columns costs
// 10 min(R,C)^2 (2 max(R,C) + min(R,C)) operations.
func (m *Muon) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("muon", lo, hi, g)
	a := &m.adam
	if lo == 0 {
		a.begin()
	}
	for i := range m.layers {
		q := &m.layers[i]
		if !q.isIn("muon", lo, hi) || q.isFrozen(a.step) {
			continue
		}
		from, to := q.Offset, q.Offset+q.Len
		w, d, rate := a.weights[from:to], g[from-lo:to-lo], lr*q.rate
		if m.plans[i] == nil {
			a.update(w, from, d, rate, q.decay, scale)
			continue
		}
		v, mean, u := a.first[from:to], m.g[:q.Len], m.u[:q.Len]
		a.cpu.Scale(mean, d, scale)
		a.cpu.Lerp(v, v, mean, 1-m.momentum)
		if m.nesterov {
			a.cpu.Lerp(u, mean, v, m.momentum)
		} else {
			copy(u, v)
		}
		m.plans[i].run(u)
		a.cpu.Scale(w, w, float32(1-float64(rate*q.decay)))
		factor := 0.2 * math.Sqrt(float64(max(q.Rows, q.Cols)))
		a.cpu.AddScaled(w, w, u, float32(-rate*factor))
	}
}
