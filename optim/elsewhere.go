package optim

// Elsewhere does the arithmetic of a [Movable] optimizer on weights, gradients and state that are not slices
// of the host, with the same bits: those of the range [lo, hi) of the weights.
type Elsewhere interface {
	// SGD is the update that SGD documents.
	SGD(lo, hi int, rate, momentum, decay, scale float32, nesterov bool)
	// AdamW is the update that AdamW documents.
	AdamW(lo, hi int, step AdamWStep)
}

// AdamWStep has the factors of one step of AdamW: Scale of the gradient, Decay = 1 - lr*d of the weights,
// First = 1-beta1, Second = beta2 and Rest = 1-beta2 of the moments, Rate = lr/(1-beta1^t), Root =
// sqrt(1-beta2^t).
type AdamWStep struct{ Scale, Decay, First, Second, Rest, Rate, Root, Eps float32 }

// Movable is an optimizer whose weights and state may lie elsewhere: SGD and AdamW.
type Movable interface {
	Optimizer
	// StepOn is Step for all weights, whose gradients e has. It does not touch the vectors of State.
	StepOn(e Elsewhere, lr float64, scale float32)
}

// StepOn implements Movable.
func (s *SGD) StepOn(e Elsewhere, lr float64, scale float32) {
	s.step++
	for _, q := range s.stretches {
		if !q.isFrozen(s.step) {
			e.SGD(q.lo, q.hi, float32(lr*q.rate), s.momentum, float32(q.decay), scale, s.nesterov)
		}
	}
}

// StepOn implements Movable.
func (a *AdamW) StepOn(e Elsewhere, lr float64, scale float32) {
	a.begin()
	for _, q := range a.stretches {
		if !q.isFrozen(a.step) {
			e.AdamW(q.lo, q.hi, a.factors(lr*q.rate, q.decay, scale))
		}
	}
}
