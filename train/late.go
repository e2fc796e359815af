package train

import (
	"fmt"

	"lockstep/trace"
)

// late is the update of a step whose gradients may still be on their way when it ends: each bucket of
// weights changes when its sum has come, at the latest where the next forward pass reads it.
type late struct {
	sums   Summer
	isAway bool // an update is under way
	rate   float64
	scale  float32
	err    error // the first of this update
}

// Summer tells when the sums of gradients are there.
type Summer interface {
	// Summed returns when the sum of a parameter's gradient is in piece 0, or if param is negative another
	// one: in [lo, hi), which came with it and cuts no parameter in two. lo = hi where the sum has been
	// returned before, or all have.
	Summed(param int) (lo, hi int, err error)
}

// UpdateLate makes this worker update weights while the next forward pass goes on, which waits for sums
// layer by layer. The Wait of its GradSync then leaves the rows complete, and the gradients to sums. What
// needs all gradients at once, clipping, does not go with it. The weights have the bits that they have
// without. It is called before Run, once.
func (l *Loop) UpdateLate(sums Summer) error {
	if l.config.Clip > 0 || l.sharded != nil {
		return fmt.Errorf("train: a late update with clipping at %v, in shares %v: want it without",
			l.config.Clip, l.sharded != nil)
	}
	l.late = &late{sums: sums}
	return nil
}

// beginUpdate leaves an update to what comes. Until it has ended the weights are torn.
func (l *Loop) beginUpdate(rate float64, scale float32) {
	u := l.late
	u.isAway, u.rate, u.scale, u.err = true, rate, scale, nil
}

// updateBy makes the part of the update that a parameter is in, unless that is done.
func (l *Loop) updateBy(param int) {
	if first := l.variables.Order[0]; param >= 0 && param != first {
		l.updatePart(first) // an optimizer begins a step by the first range, which is the first to come, too
	}
	l.updatePart(param)
}

// updatePart waits for a sum and makes that part of the update. It reports whether there was one.
func (l *Loop) updatePart(param int) bool {
	u := l.late
	if u.err != nil {
		return false
	}
	lo, hi, err := u.sums.Summed(param)
	l.clock.Lap(trace.SyncExposed)
	if u.err = err; lo == hi {
		return false
	}
	l.optimizer.Step(lo, hi, l.gradients[0][lo:hi], u.rate, u.scale)
	l.clock.Lap(trace.Optimizer)
	return true
}

// endUpdate makes all parts of the update that are left.
func (l *Loop) endUpdate() error {
	l.updateBy(l.variables.Order[0])
	for l.updatePart(-1) {
	}
	if err := l.late.err; err != nil {
		l.cutOff = true
		return l.failed("exchange of gradients", err)
	}
	l.late.isAway, l.torn = false, false
	l.lap(trace.Optimizer, "update")
	return nil
}
