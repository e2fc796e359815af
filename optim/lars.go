package optim

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/row"
)

// LARS is SGD with momentum and a rate scaled by each layer's norms, for large batches (You, Gitman
// and Ginsburg 2017, arXiv 1708.03888, algorithm 1).
//
// With g the summed gradient of a layer, s the scale, d the weight decay and m the momentum,
//
//	trust = 0.001 * |w| / (|g*s| + d*|w|)    (1 for biases and gains of norms, and where a norm is 0)
//	v = m*v + lr*trust*(g*s + d*w)           (v starts at 0)
//	w -= v                                   (Nesterov: w -= lr*trust*(g*s + d*w) + m*v)
//
// where |x| is the root of the sum of squares. The paper does not cover biases and norms; they are
// updated as by SGD, which is common practice.
type LARS struct {
	cpu               *row.CPU
	weights, velocity []float32
	momentum          float32
	nesterov          bool
	layers            []layer
	norm              norm
	step              int
}

// larsTrust is the paper's eta.
const larsTrust = 0.001

// newLARS returns LARS over weights with a velocity of zero. The settings must be valid.
func newLARS(c Config, cpu *compute.CPU, weights []float32, params []Param) (*LARS, error) {
	layers, err := c.wholeLayers(params, len(weights))
	if err != nil {
		return nil, err
	}
	return &LARS{
		cpu:      row.On(cpu),
		weights:  weights,
		velocity: make([]float32, len(weights)),
		momentum: float32(c.Momentum),
		nesterov: c.Nesterov,
		layers:   layers,
		norm:     newNorm(cpu, layers),
	}, nil
}

// wholeLayers is layers for a rule that requires the list of parameters.
func (c Config) wholeLayers(params []Param, n int) ([]layer, error) {
	if len(params) == 0 {
		return nil, fmt.Errorf("optim: %s needs the list of parameters", c.Name)
	}
	return c.layers(params, n)
}

// Bytes returns the size of the velocity.
func (l *LARS) Bytes() int64 { return 4 * int64(len(l.velocity)) }

// State returns the velocity.
func (l *LARS) State() []Vector { return []Vector{{"momentum_buffer", l.velocity}} }

// Resume sets the number of steps done, which decides which parameters are frozen.
func (l *LARS) Resume(steps int) { l.step = steps }

// Step updates the weights [lo, hi). See Optimizer.
func (l *LARS) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("lars", lo, hi, g)
	if lo == 0 {
		l.step++
	}
	for i := range l.layers {
		q := &l.layers[i]
		if !q.isIn("lars", lo, hi) || q.isFrozen(l.step) {
			continue
		}
		from, to := q.Offset, q.Offset+q.Len
		w, d := l.weights[from:to], g[from-lo:to-lo]
		rate := lr * q.rate
		if q.Kind != Bias {
			rate *= l.trust(w, d, q.decay, scale)
		}
		l.cpu.SGD(w, l.velocity[from:to], d, 1, l.momentum, float32(rate*q.decay),
			float32(rate*float64(scale)), l.nesterov)
	}
}

// trust returns the factor of a layer's rate.
func (l *LARS) trust(w, g []float32, decay float64, scale float32) float64 {
	length, slope := l.norm.of(w), float64(l.norm.of(g)*float64(scale))
	if !(length > 0 && slope > 0) {
		return 1
	}
	return larsTrust * length / (slope + float64(decay*length))
}
