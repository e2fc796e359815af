package optim

import (
	"math"

	"lockstep/compute"
)

// UnitMuon is the Muon of airbench94_muon (Jordan 2024, github.com/KellerJordan/cifar10-airbench):
// matrices keep a fixed norm and take orthogonal steps; everything else is updated as by SGD.
//
// With g the summed gradient of a matrix of K outputs, s the scale and m = 0.6, the authors' momentum:
//
//	g = g*s
//	v = m*v + g                           (v starts at 0)
//	u = orthogonal(g + m*v)
//	w = w * sqrt(K)/|w|
//	w -= lr * u
//
// Convolutions count as matrices of [outputs, all other axes]. lr is thus about the angle of a
// step. Matrices have no weight decay, which the fixed norm would undo. Biases, gains of norms,
// embeddings and the last layer follow SGD's formula, with Config's momentum and the rates of their
// groups.
type UnitMuon struct {
	sgd    SGD // of the others; its velocity is also the matrices' v
	layers []layer
	plans  []*orthogonal // by layer; nil for the others
	room   int64         // size of the plans in bytes
	g, u   []float32     // of the current layer
}

// unitMomentum is the m of matrices.
const unitMomentum = 0.6

// newUnitMuon returns UnitMuon over weights with a velocity of zero. The settings must be valid.
func newUnitMuon(c Config, cpu *compute.CPU, weights []float32, params []Param) (*UnitMuon, error) {
	layers, err := c.wholeLayers(params, len(weights))
	if err != nil {
		return nil, err
	}
	sgd, err := newSGD(c, cpu, weights, params)
	if err != nil {
		return nil, err
	}
	m := &UnitMuon{sgd: *sgd, layers: layers, g: make([]float32, largest(layers)),
		u: make([]float32, largest(layers))}
	m.plans, m.room = planMatrices(cpu, layers)
	return m, nil
}

// Bytes returns the size of the velocity, of two layers, and of the products of each size of
// matrix.
func (m *UnitMuon) Bytes() int64 { return m.sgd.Bytes() + 4*int64(len(m.g)+len(m.u)) + m.room }

// State returns the velocity.
func (m *UnitMuon) State() []Vector { return m.sgd.State() }

// Resume sets the number of steps done, which decides which parameters are frozen.
func (m *UnitMuon) Resume(steps int) { m.sgd.Resume(steps) }

// Step updates the weights [lo, hi). See Optimizer. A matrix costs as much as Muon's.
func (m *UnitMuon) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("unit-muon", lo, hi, g)
	o := &m.sgd
	if lo == 0 {
		o.step++
	}
	for i := range m.layers {
		q := &m.layers[i]
		if !q.isIn("unit-muon", lo, hi) || q.isFrozen(o.step) {
			continue
		}
		from, to := q.Offset, q.Offset+q.Len
		w, v, d, rate := o.weights[from:to], o.velocity[from:to], g[from-lo:to-lo], float32(lr*q.rate)
		if plan := m.plans[i]; plan == nil {
			o.cpu.SGD(w, v, d, rate, o.momentum, float32(q.decay), scale, o.nesterov)
		} else {
			m.turn(plan, q, w, v, d, rate, scale)
		}
	}
}

// turn updates a matrix.
func (m *UnitMuon) turn(plan *orthogonal, q *layer, w, v, d []float32, rate, scale float32) {
	cpu, mean, u := m.sgd.cpu, m.g[:q.Len], m.u[:q.Len]
	cpu.Scale(mean, d, scale)
	cpu.AddScaled(v, mean, v, unitMomentum)
	cpu.AddScaled(u, mean, v, unitMomentum)
	plan.run(u)
	length := max(plan.norm.of(w), schulzEps)
	cpu.Scale(w, w, float32(math.Sqrt(float64(q.Cols))/length))
	cpu.AddScaled(w, w, u, -rate)
}
