package analysis

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/app/record"
)

// computedNames lists the settings that decide what a run computes, whatever its workers are. The names of
// the most telling come first, because a difference is worded by the first of them.
func computedNames() []string {
	return []string{"optimizer", "momentum", "nesterov", "weight-decay", "decay", "beta1", "beta2", "eps",
		"groups", "scale-lr", "schedule", "warmup", "drop-every", "milestones", "gamma", "triangle", "clip",
		"ema", "lookahead", "label-smoothing", "augment", "limit-train", "size", "stem", "normalize",
		"sequence", "weights", "fresh-head"}
}

// computed is what a line's runs computed by their configuration: the settings of [computedNames], and the
// math. Results may lack some or all of them.
type computed struct {
	values map[string]string
	math   string
}

func computedBy(run *record.Run) computed {
	all := configOf(run)
	c := computed{values: map[string]string{}}
	c.math, _ = all["math"].(string)
	for _, name := range computedNames() {
		if all[name] != nil {
			c.values[name] = fmt.Sprint(all[name])
		}
	}
	return c
}

// key returns a text that two lines have in common if they compute the same.
func (c computed) key() string { return fmt.Sprint(c.math, " ", c.values) }

// difference says in words how c differs from other in a setting that both tell; "" if it does not.
func (c computed) difference(other computed) string {
	for _, name := range computedNames() {
		a, isHere := c.values[name]
		b, isThere := other.values[name]
		if isHere && isThere && a != b {
			return fmt.Sprintf("%s %s against %s", name, worded(a), worded(b))
		}
	}
	return ""
}

// worded writes the value of a setting.
func worded(v string) string { return cmp.Or(v, "none") }

// isMixed reports whether the runs rounded the operands of products to half their bits.
func (c computed) isMixed() bool { return c.math == "bf16" }

// endsAlike reports whether two lines ended with the same parameters, so that what differs between them had
// no effect.
func (l *Line) endsAlike(o *Line) bool {
	return l.SHA256 != "" && l.SHA256 == o.SHA256
}

// markMixed marks the lines of a group that trained in mixed precision where others did not, and reached
// another result.
func (g *Group) markMixed() {
	for _, l := range g.Lines {
		for _, o := range g.Lines {
			isOther := l.OK > 0 && o.OK > 0 && o.Setting.Peer == "" && l.Setting.Peer == "" &&
				l.computed.isMixed() && !o.computed.isMixed()
			l.IsMixed = l.IsMixed || isOther && !l.endsAlike(o)
		}
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

// areComputed says if the runs of a row differ in what they computed, which those of lockstep bench never do.
func areComputed(row *record.Row) string {
	var first computed
	for i := range row.Runs {
		run := &row.Runs[i]
		is := computedBy(run)
		if run.Error != "" || len(is.values) == 0 {
			continue
		}
		if first.values == nil {
			first = is
			continue
		}
		text := is.difference(first)
		if text == "" && is.math != first.math {
			text = fmt.Sprintf("math %s against %s", is.math, first.math)
		}
		if text != "" {
			return fmt.Sprintf("its runs are of one row, and round %d was run with %s.", run.Round+1,
				strings.Replace(text, " against ", ", not ", 1))
		}
	}
	return ""
}
