package optim

import (
	"fmt"

	"lockstep/internal/kernel"
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
	cpu                   *kernel.CPU
	weights, velocity     []float32
	momentum, weightDecay float32
	nesterov              bool
}

// NewSGD returns SGD over weights with a velocity of zero. The settings must be valid.
func NewSGD(c Config, cpu *kernel.CPU, weights []float32) *SGD {
	return &SGD{
		cpu:         cpu,
		weights:     weights,
		velocity:    make([]float32, len(weights)),
		momentum:    float32(c.Momentum),
		weightDecay: float32(c.WeightDecay),
		nesterov:    c.Nesterov,
	}
}

// Bytes returns the size of the velocity.
func (s *SGD) Bytes() int64 { return 4 * int64(len(s.velocity)) }

// State returns the velocity.
func (s *SGD) State() []Vector { return []Vector{{"momentum_buffer", s.velocity}} }

// Resume does nothing: no number depends on the step.
func (s *SGD) Resume(int) {}

// Step updates the weights [lo, hi). See Optimizer.
func (s *SGD) Step(lo, hi int, g []float32, lr float64, scale float32) {
	if len(g) != hi-lo {
		panic(fmt.Sprintf("optim: sgd: len(g)=%d for weights [%d,%d), want %d",
			len(g), lo, hi, hi-lo))
	}
	s.cpu.SGD(s.weights[lo:hi], s.velocity[lo:hi], g,
		float32(lr), s.momentum, s.weightDecay, scale, s.nesterov)
}
