package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"strings"

	"lockstep/app/record"
)

// weakScaling says how much more workers do in the same time when each has as many samples as one has alone.
// That is another question than how much faster they do the same work, so it gets no speed-up.
func weakScaling(_ *record.Results, c *Comparison) []string {
	var parts []string
	c.lines(func(g *Group, l *Line) {
		alone := c.alone(g, l)
		if alone == nil || l.Disturbed || alone.Disturbed {
			return
		}
		rate := pairedRatio(alone, l).Scaled(float64(l.Setting.Workers))
		if !rate.Known() {
			return
		}
		text := fmt.Sprintf("%s %s does %.2f times the samples per second of %s (%s)", c.Title(g), l.Label,
			rate.Median, alone.Label, rangeText(rate))
		if !l.Contended {
			text += fmt.Sprintf(", %s of what each worker does alone",
				percent(rate.Median/float64(l.Setting.Workers)))
		}
		parts = append(parts, text)
	})
	if parts == nil {
		return nil
	}
	return one("Weak scaling, where the batch grows with the workers: %s. These rows train with other "+
		"batches, so the same number of samples does not bring them to the same accuracy.",
		strings.Join(parts, "; "))
}

// rangeText writes the interval of a ratio, or that one round has none.
func rangeText(r stat.Ratio) string {
	if r.Interval.Coverage == 0 {
		return "one round, so no interval"
	}
	return fmt.Sprintf("%.2f to %.2f", r.Interval.Lo, r.Interval.Hi)
}

// alone returns the single worker of the same program with as many samples and threads as each worker of l
// has, in the group of its own batch; nil if there is none.
func (c *Comparison) alone(g *Group, l *Line) *Line {
	if g.PerWorker == 0 || l.Setting.Workers == 1 {
		return nil
	}
	for i := range c.Groups {
		o := &c.Groups[i]
		if o.Model != g.Model || o.Data != g.Data || o.PerWorker != g.PerWorker ||
			o.Condition != g.Condition {
			continue
		}
		for _, other := range o.Lines {
			s := other.Setting
			isSame := s.Threads == l.Setting.Threads && s.Batch == g.PerWorker &&
				other.program() == l.program()
			if other.OK > 0 && s.Workers == 1 && isSame {
				return other
			}
		}
	}
	return nil
}
