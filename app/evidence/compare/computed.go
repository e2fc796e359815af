package compare

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"lockstep/app/record"
)

// ComputedNames lists the settings that decide what a run computes, whatever its workers are. The names of
// the most telling come first, because a difference is worded by the first of them.
func ComputedNames() []string {
	return []string{"optimizer", "momentum", "nesterov", "weight-decay", "decay", "beta1", "beta2", "eps",
		"groups", "scale-lr", "schedule", "warmup", "drop-every", "milestones", "gamma", "triangle", "clip",
		"ema", "lookahead", "label-smoothing", "augment", "limit-train", "size", "stem", "normalize",
		"sequence", "vocab", "text-column", "pair-column", "label-column", "weights", "fresh-head"}
}

// Settings that say how products are rounded, and what computes them. Rows may differ in them and be
// compared.
const (
	mathName   = "math"
	deviceName = "device"
)

// computed is what a run's configuration tells of [ComputedNames] and the math, by name.
type computed map[string]string

func computedBy(run *record.Run) computed {
	all, c := configOf(run), computed{}
	for _, name := range append(ComputedNames(), mathName, deviceName) {
		if all[name] != nil {
			c[name] = fmt.Sprint(all[name])
		}
	}
	if run.Device != "" {
		c[deviceName] = run.Device // the configuration may have left it to the machine
	}
	return c
}

// key returns a text that two lines have in common if they compute the same.
func (c computed) key() string { return fmt.Sprint(map[string]string(c)) }

// differs returns the first of the named settings that both tell and that differs, with both values; "" if
// there is none.
func (c computed) differs(other computed, names []string) (name, a, b string) {
	for _, name := range names {
		a, isHere := c[name]
		b, isThere := other[name]
		if isHere && isThere && a != b {
			return name, cmp.Or(a, "none"), cmp.Or(b, "none")
		}
	}
	return "", "", ""
}

// isMixed reports whether the runs rounded the operands of products to half their bits.
func (c computed) isMixed() bool { return c[mathName] == "bf16" }

// OtherMeans says in which of device and math two lines differ, as far as both tell; "" if in neither.
func (l *Line) OtherMeans(o *Line) string {
	name, _, _ := l.computed.differs(o.computed, []string{deviceName, mathName})
	return name
}

// HasMathOf reports whether two lines computed products by the same math on the same kind of device, as far
// as both tell.
func (l *Line) HasMathOf(o *Line) bool { return l.OtherMeans(o) == "" }

// IsOnGPU reports whether a GPU computed the line, for which efficiency per core says nothing.
func (l *Line) IsOnGPU() bool { return isGPU(l.computed[deviceName]) }

// gpuNames are those of devices that are GPUs: the first one, or one by its number below 64.
var gpuNames = regexp.MustCompile(`^cuda(:([0-9]|[1-5][0-9]|6[0-3]))?$`)

// isGPU reports whether a device is a GPU.
func isGPU(device string) bool { return gpuNames.MatchString(device) }

// isOfOtherMath reports whether a line has a speed-up and no efficiency, because the baseline computed
// products by another math or on another device.
func (g *Group) isOfOtherMath(l *Line) bool { return l.Speedup.Known() && !l.HasMathOf(g.Baseline) }

// otherTraining says in words in which setting two lines train otherwise; "" if there is none, if it had no
// effect, or if the line reaches another result anyway.
func (l *Line) otherTraining(base *Line) string {
	name, a, b := l.computed.differs(base.computed, ComputedNames())
	if name == "" || l.isOther() || l.endsAlike(base) {
		return ""
	}
	return fmt.Sprintf("%s %s against %s", name, a, b)
}

// endsAlike reports whether two lines ended with the same parameters for every seed that both have, so that
// what differs between them had no effect.
func (l *Line) endsAlike(o *Line) bool {
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
			!slices.ContainsFunc(whole, l.endsAlike)
	}
}

// mixedMath says which rows reach another result by mixed precision.
func mixedMath(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.IsMixed })
	if !any {
		return nil
	}
	return one("These rows train in mixed precision (math bf16), so they reach another result than the "+
		"others, and take no part in findings about the fastest row: %s. Their accuracy has to be weighed "+
		"against their time.", names)
}

// sharesGPU reports whether several workers of the line computed on one GPU. Runs that do not tell had all
// workers of a host on its first.
func (l *Line) sharesGPU() bool {
	if !l.IsOnGPU() {
		return false
	}
	return slices.ContainsFunc(l.runs, func(r *record.Run) bool {
		return r.GPUWorkers > 1 || r.GPUWorkers == 0 && l.Setting.Workers > max(1, l.Setting.Hosts)
	})
}

// sharedGPU says which rows have several workers on one GPU.
func sharedGPU(_ *record.Results, c *Comparison) []string {
	names, any := c.where((*Line).sharesGPU)
	if !any {
		return nil
	}
	return one("Workers of these rows share a GPU, so their step times show contention, not scaling: %s.",
		names)
}

// otherRun says which of a line's runs was configured to compute otherwise than those before it; "" if none
// was.
func otherRun(runs []*record.Run) string {
	told := computed{} // by the runs so far
	for _, run := range runs {
		is := computedBy(run)
		if name, a, b := is.differs(told, append(ComputedNames(), mathName, deviceName)); name != "" {
			return fmt.Sprintf("round %d was run with %s %s, not %s", run.Round+1, name, a, b)
		}
		maps.Copy(told, is)
	}
	return ""
}
