package optim

import (
	"lockstep/compute"
	"lockstep/internal/kernel/row"
)

// SGD is stochastic gradient descent with momentum, exactly as torch.optim.SGD defines it.
//
// With g the summed gradient, s the scale, d the weight decay and m the momentum, one step is
//
//	g = g*s + d*w
//	v = m*v + g        (v starts at 0)
//	w -= lr * v        (Nesterov: w -= lr * (g + m*v))
//
// in float32 and in one pass over memory. After Sutskever et al. 2013, in PyTorch's variant.
type SGD struct {
	cpu               *row.CPU
	weights, velocity []float32
	momentum          float32
	nesterov          bool
	stretches         []stretch
	step              int
}

// newSGD returns SGD over weights with a velocity of zero. The settings must be valid.
func newSGD(c Config, cpu *compute.CPU, weights []float32, params []Param) (*SGD, error) {
	stretches, err := c.stretches(params, len(weights))
	if err != nil {
		return nil, err
	}
	return &SGD{
		cpu:       row.On(cpu),
		weights:   weights,
		velocity:  make([]float32, len(weights)),
		momentum:  float32(c.Momentum),
		nesterov:  c.Nesterov,
		stretches: stretches,
	}, nil
}

// Bytes returns the size of the velocity.
func (s *SGD) Bytes() int64 { return 4 * int64(len(s.velocity)) }

// State returns the velocity.
func (s *SGD) State() []Vector { return []Vector{{"momentum_buffer", s.velocity}} }

// Resume sets the number of steps done, which decides which parameters are frozen.
func (s *SGD) Resume(steps int) { s.step = steps }

// Step updates the weights [lo, hi). See Optimizer.
func (s *SGD) Step(lo, hi int, g []float32, lr float64, scale float32) {
	mustFit("sgd", lo, hi, g)
	if lo == 0 {
		s.step++
	}
	for i := range s.stretches {
		q := &s.stretches[i]
		if from, to := q.within(lo, hi); from < to && !q.isFrozen(s.step) {
			s.cpu.SGD(s.weights[from:to], s.velocity[from:to], g[from-lo:to-lo],
				float32(lr*q.rate), s.momentum, float32(q.decay), scale, s.nesterov)
		}
	}
}
