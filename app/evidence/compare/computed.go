package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
)

// ComputedNames lists the settings that decide what a run computes, whatever its workers are. The names of
// the most telling come first, because a difference is worded by the first of them.
func ComputedNames() []string {
	return strings.Fields("optimizer momentum nesterov weight-decay decay beta1 beta2 eps groups scale-lr " +
		"schedule warmup drop-every milestones gamma triangle clip ema lookahead task label-smoothing " +
		"class-weights class-shares weight-column augment mixup cutmix shuffle limit-train validation size " +
		"stem normalize sequence vocab text-column pair-column label-column weights fresh-head skip-bad")
}

// Settings that say how products are rounded, and what computes them. Rows may differ in them and be
// compared.
const (
	mathName   = "math"
	deviceName = "device"
)

// configured is what a run's configuration says, by the names of the settings.
type configured map[string]any

// configOf returns the configuration of a run; nil if there is none, or it is another program's.
func configOf(run *record.Run) configured {
	var c configured
	if json.Unmarshal(run.Config, &c) != nil {
		return nil
	}
	return c
}

// computed is what a run's configuration tells of [ComputedNames] and the math, by name.
type computed map[string]string

func computedBy(run *record.Run) computed {
	all, c := configOf(run), computed{}
	for _, name := range append(ComputedNames(), mathName, deviceName) {
		if all[name] != nil {
			c[name] = cmp.Or(fmt.Sprint(all[name]), "none")
		}
	}
	if run.Device != "" {
		c[deviceName] = run.Device // the configuration may have left it to the machine
	}
	return c
}

// key returns a text that two lines have in common if they compute the same.
func (c computed) key() string { return fmt.Sprint(map[string]string(c)) }

// differs returns the first of the named settings that both tell and that differs; nil if there is none.
func (c computed) differs(other computed, names []string) []Difference {
	for _, name := range names {
		a, isHere := c[name]
		b, isThere := other[name]
		if isHere && isThere && a != b {
			return []Difference{{name, []any{a, b}}}
		}
	}
	return nil
}

// isMixed reports whether the runs rounded the operands of products to half their bits.
func (c computed) isMixed() bool { return c[mathName] == "bf16" }

// OtherMeans says in which of device and math two lines differ, as far as both tell; "" if in neither.
func (l *Line) OtherMeans(o *Line) string {
	if d := l.computed.differs(o.computed, []string{deviceName, mathName}); d != nil {
		return d[0].Name
	}
	return ""
}

// ComputesOtherwise returns the first setting in which two lines, perhaps of two benchmarks, compute
// otherwise, as far as both tell; nil if there is none.
func (l *Line) ComputesOtherwise(o *Line) []Difference {
	return l.computed.differs(o.computed, append(ComputedNames(), mathName, deviceName))
}

// HasMathOf reports whether two lines computed products by the same math on the same kind of device, as far
// as both tell.
func (l *Line) HasMathOf(o *Line) bool { return l.OtherMeans(o) == "" }

// IsOnGPU reports whether a GPU computed the line, for which efficiency per core says nothing.
func (l *Line) IsOnGPU() bool { return strings.HasPrefix(l.computed[deviceName], "cuda") }

// otherTraining returns the first setting in which two lines train otherwise; nil if there is none, if it had
// no effect, or if the line reaches another result anyway.
func (l *Line) otherTraining(base *Line) []Difference {
	d := l.computed.differs(base.computed, ComputedNames())
	if l.isOther() || l.EndsAlike(base) {
		return nil
	}
	return d
}

// EndsAlike reports whether two lines ended with the same parameters for every seed that both have, so that
// what differs between them had no effect.
func (l *Line) EndsAlike(o *Line) bool {
	isAlike := false
	for seed, hash := range l.hashes {
		other, isShared := o.hashes[seed]
		if isShared && (hash == "" || hash != other) {
			return false
		}
		isAlike = isAlike || isShared
	}
	return isAlike
}

// markMixed marks the lines that trained in mixed precision and ended like none of those that did not.
func (g *Group) markMixed() {
	var whole []*Line
	for _, l := range g.Lines {
		if l.OK > 0 && l.Setting.Peer == "" && !l.computed.isMixed() {
			whole = append(whole, l)
		}
	}
	for _, l := range g.Lines {
		isOurs := l.OK > 0 && l.Setting.Peer == ""
		l.IsMixed = isOurs && l.computed.isMixed() && len(whole) > 0 &&
			!slices.ContainsFunc(whole, l.EndsAlike)
	}
}
