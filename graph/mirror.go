package graph

// Note: mirrors
//
// Inputs, parameters, state, gradients and batch statistics are the caller's slices. The kernels of an
// in-place executor compute on them directly. For any other executor each has a mirror, a value of the
// arena that is alive throughout the program. A forward pass uploads inputs and state when it starts, and a
// parameter in front of the first op that reads it, so that parameters may still be on their way
// (ForwardAs); it downloads losses, logits and batch statistics at its end. A backward pass downloads a
// gradient as soon as it is final.

// mirror pairs a value of the caller with its copy in the executor's memory.
type mirror struct{ host, device *Buffer }

// mirrors are those of a program, by number. There are none for values that no op touches, and none at all
// for an executor in place.
type mirrors struct {
	inputs, states, params, gradients, reports []mirror
}

// up uploads the value.
func (m mirror) up(ex Executor) {
	if m.device != nil {
		ex.Upload(m.device, m.host)
	}
}

// down downloads the value.
func (m mirror) down(ex Executor) {
	if m.device != nil {
		ex.Download(m.host, m.device)
	}
}

// upload uploads inputs and state at the start of a forward pass.
func (p *Program) upload() {
	for _, m := range p.mirrors.inputs {
		m.up(p.executor)
	}
	for _, m := range p.mirrors.states {
		m.up(p.executor)
	}
}

// bring makes the parameters ready that s is the first step to read.
func (p *Program) bring(s *step, need func(param int)) {
	for _, param := range s.fresh {
		if need != nil {
			need(param)
		}
		if p.mirrors.params != nil {
			p.mirrors.params[param].up(p.executor)
		}
	}
}

// final announces the gradients that s has made final.
func (p *Program) final(s *step, ready func(param int)) {
	for _, param := range s.final {
		if p.mirrors.gradients != nil {
			p.mirrors.gradients[param].down(p.executor)
		}
		if ready != nil {
			ready(param)
		}
	}
}
