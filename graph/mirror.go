package graph

// Note: mirrors
//
// Inputs, parameters, state, gradients and batch statistics are the caller's slices. The kernels of an
// in-place executor compute on them directly. For any other executor each has a mirror, a value of the
// arena that is alive throughout the program. A forward pass uploads inputs and state when it starts, and a
// parameter in front of the first op that reads it, so that parameters may still be on their way
// (ForwardAs). Losses, logits and batch statistics are downloaded when one of them is asked for. A backward
// pass downloads a gradient as soon as it is final.

// mirror pairs a value of the caller with its copy in the executor's memory.
type mirror struct{ host, device *Buffer }

// mirrors are those of a program, by number. There are none for values that no op touches, and none at all
// for an executor in place.
type mirrors struct {
	inputs, states, params, gradients []mirror
	reports                           mirror // all of them, one vector
}

// part is a part of the mirror of the batch statistics.
type part struct {
	buffer *Buffer
	Segment
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

// lateDownloader is an Executor that can download while it computes.
type lateDownloader interface {
	// BeginDownload begins a download of what has been computed so far.
	BeginDownload(dst, src *Buffer)
	// Arrived returns how many of those downloads have arrived, in their order. With isLast it waits for all
	// of them, and the next one begins anew.
	Arrived(isLast bool) int
}

// final announces the gradients that s has made final, or those of earlier steps that have arrived.
func (p *Program) final(s *step, ready func(param int)) {
	late, isLate := p.executor.(lateDownloader)
	if p.mirrors.gradients == nil || !isLate {
		if len(s.final) > 0 && (ready != nil || p.mirrors.gradients != nil) {
			p.rejoin()
		}
		for _, param := range s.final {
			if p.mirrors.gradients != nil {
				p.mirrors.gradients[param].down(p.executor)
			}
			if ready != nil {
				ready(param)
			}
		}
		return
	}
	for _, param := range s.final {
		m := p.mirrors.gradients[param]
		late.BeginDownload(m.host, m.device)
	}
	p.announce(late.Arrived(false), ready)
}

// announce calls ready for the gradients up to number n in the order in which they become final.
func (p *Program) announce(n int, ready func(param int)) {
	for ; p.announced < n; p.announced++ {
		if ready != nil {
			ready(p.order[p.announced])
		}
	}
}

// lastArrivals announces what is left of a backward pass.
func (p *Program) lastArrivals(ready func(param int)) {
	if late, isLate := p.executor.(lateDownloader); isLate && p.mirrors.gradients != nil {
		p.announce(late.Arrived(true), ready)
		p.announced = 0
	}
}
