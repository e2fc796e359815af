package claim

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// efficient judges the efficiency of a row by its speed-up and its processors.
func efficient(c *court, m []string) ruling {
	e := c.subject(m[1])
	if e == nil || c.t.base == nil || e == c.t.base {
		return undecided("no row to compare with")
	}
	v, half := amount(m[2])
	s, p := e.soundSpeedup(c.t.base), e.processors()/c.t.base.processors()
	if !given(s.value) || !given(p) {
		return undecided("no speed-up and number of workers of both rows")
	}
	got := s.value / p
	sum := fmt.Sprintf("%s / %s = %s", num(s.value), num(p), percent(got))
	if !(math.Abs(got-v/100) <= half/100+2*slack*got) {
		return refused("wrong denominators", "%s", sum)
	}
	return held("%s", sum)
}

// serialShare and parallelShare judge a serial fraction by that which the speed-ups show.
func serialShare(c *court, m []string) ruling {
	v, _ := amount(m[1])
	return c.serial(v / 100)
}

func parallelShare(c *court, m []string) ruling {
	v, _ := amount(m[1])
	if m[2] == "parallel" {
		v = 100 - v
	}
	return c.serial(v / 100)
}

func (c *court) serial(f float64) ruling {
	if c.t == nil {
		return undecided("no table of speed-ups")
	}
	base := c.t.base
	if base == nil {
		return undecided("no row to compare with")
	}
	var points []analysis.Scaled
	var shown []string
	for _, e := range c.t.measured {
		p, s := e.processors()/base.processors(), e.soundSpeedup(base).value
		if p > 1 && given(s) {
			points = append(points, analysis.Scaled{Processors: p, Speedup: s})
			shown = append(shown, fmt.Sprintf("%s at %s means %s", num(s), num(p),
				percent(analysis.KarpFlatt(points[len(points)-1]))))
		}
	}
	if points == nil {
		return undecided("no speed-up at several workers")
	}
	fit, law := analysis.FitAmdahl(points), "Amdahl's law"
	if c.t.isWeak() {
		fit, law = analysis.FitGustafson(points), "Gustafson's law, as the batch grows with the workers,"
	}
	if !(math.Abs(fit-f) <= 0.25*math.Max(fit, f)) {
		return refused("Amdahl", "the speed-ups contradict a serial fraction of %s: %s fits %s (%s)",
			percent(f), law, percent(fit), strings.Join(shown[:min(len(shown), 4)], ", "))
	}
	return held("%s fits %s", law, percent(fit))
}

// isWeak reports whether the batch, or the samples, grow with the workers.
func (t *table) isWeak() bool {
	base := t.base
	for _, e := range t.measured {
		if base != nil && e != base && !isWeak(e, base) {
			return false
		}
	}
	return base != nil
}

func amdahlSays(_ *court, m []string) ruling {
	share, _ := amount(m[1])
	v, half := amount(m[2])
	p, _ := amount(m[3])
	got := analysis.Amdahl(1-share/100, p)
	if !(share <= 100 && p >= 1) {
		return refused("Amdahl", "%s %% parallel on %s processors: the law takes at most 100 %%, and one or "+
			"more", m[1], m[3])
	}
	if !(math.Abs(got-v) <= leeway(v, half)+slack/2*got) {
		return refused("Amdahl", "Amdahl's law gives 1 / (%s + %s / %s) = %s", num(1-share/100),
			num(share/100), num(p), num(got))
	}
	return held("Amdahl's law gives %s", num(got))
}

// perfectly are words that say more than "linear" does.
var perfectly = regexp.MustCompile(`(?i)^(?:§\d )?(?:scales|scaled|scaling is) perfect`)

func linear(c *court, m []string) ruling {
	if c.t == nil || c.t.base == nil {
		return undecided("no row to compare with")
	}
	base, most := c.t.base, c.subject(cmp.Or(group(m, 1), group(m, 2)))
	if most == nil {
		most = slices.MaxFunc(c.t.measured,
			func(a, b *entry) int { return sign(a.processors() - b.processors()) })
	}
	s, p := most.soundSpeedup(base).value, most.processors()/base.processors()
	switch {
	case !(p > 1) || !given(s):
		return undecided("no speed-up of a row of more workers")
	case s/p < 1-loosest && perfectly.MatchString(m[0]), s/p < 1-analysis.NoiseLimit:
		return refused("wrong denominators", "%s is %s× at %s times the processors, %s of linear", most.name,
			num(s), num(p), percent(s/p))
	}
	return held("%s is %s× at %s times the processors", most.name, num(s), num(p))
}
