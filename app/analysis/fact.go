package analysis

import (
	"fmt"
	"strings"

	"lockstep/app/record"
)

func parametersAgree(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		g := &c.Groups[i]
		exact := 0
		for _, l := range g.Lines {
			if l.OK > 0 && l.Exact() && !l.Disagree {
				exact++
			}
		}
		if len(g.Hashes) == 1 && exact > 1 {
			hash := g.Hashes[0]
			out = append(out, fmt.Sprintf("%s: all %d rows that train one model end with the "+
				"same parameters, bit for bit (SHA-256 %s…).", c.Title(g), exact,
				hash[:min(12, len(hash))]))
		}
	}
	return out
}

func speedup(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		b := c.Groups[i].Baseline
		if b == nil {
			out = append(out, fmt.Sprintf("%s: no successful run of strategy single, hence no "+
				"speed-up.", c.Title(&c.Groups[i])))
			continue
		}
		if i > 0 {
			continue
		}
		cores := "1 core"
		if b.Cores > 1 {
			cores = fmt.Sprintf("%d cores", b.Cores)
		}
		out = append(out, fmt.Sprintf("Speed-up is the median step time of single on %s divided "+
			"by that of the row, at equal work per step and taken round by round; findings order rows "+
			"likewise. Efficiency is speed-up per core used, relative to single on %s.", cores, cores))
	}
	return out
}

// toldApart says when findings call rows different.
func toldApart(_ *record.Results, c *Comparison) []string {
	pairs := 0
	for i := range c.Groups {
		pairs += len(c.Groups[i].Pairs)
	}
	if pairs == 0 {
		return nil
	}
	return one("Findings call two rows different only if their rounds do: a paired t-test of the logarithms "+
		"of the ratios, corrected for the number of pairs (%d, after Holm), gives less than %.0f %%, and "+
		"the interval of the median ratio leaves out 1. More rounds show smaller differences.", pairs,
		100*Significance)
}

// copies says how many pairs of equal rows there are, and how many of them look different.
func copies(_ *record.Results, c *Comparison) []string {
	pairs, different := 0, 0
	for i := range c.Groups {
		for _, p := range c.Groups[i].Pairs {
			if p.isCopy() {
				pairs++
				if p.IsDecided() {
					different++
				}
			}
		}
	}
	if pairs == 0 {
		return nil
	}
	return one("Pairs of rows that differ in name only: %d. Their rounds tell %d of them apart; what "+
		"differs between such rows is noise.", pairs, different)
}

func firstStep(_ *record.Results, c *Comparison) []string {
	var most *Line
	var name string
	factor := func(l *Line) float64 { return l.FirstStep / l.RunMedian.Median }
	c.lines(func(g *Group, l *Line) {
		if finite(factor(l)) && (most == nil || factor(l) > factor(most)) {
			most, name = l, c.name(g, l)
		}
	})
	if most == nil {
		return nil
	}
	return one("Step times, samples per second, phases and ratios leave out the first step of "+
		"each run, which pays for page faults and cold caches (at most %.1f times a median "+
		"step: %s). Totals contain it.", factor(most), name)
}

func epochNotMeasured(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Epoch.N == 0 })
	if !any {
		return nil
	}
	return one("No epoch time for %s: the run ended before a complete pass over the training "+
		"set, and a projection is no measurement.", names)
}

func interleaved(r *record.Results, c *Comparison) []string {
	if r.Rounds < 2 {
		return nil
	}
	return one("The runs were interleaved: %d rounds over all rows, every second round in "+
		"reverse order, so that a drift of the machine meets all rows alike.", r.Rounds)
}

func skipped(r *record.Results, _ *Comparison) []string {
	var order []string
	rows := map[string][]string{}
	for _, s := range r.Skipped {
		if rows[s.Reason] == nil {
			order = append(order, s.Reason)
		}
		rows[s.Reason] = append(rows[s.Reason],
			fmt.Sprintf("%s %s ×%d", s.Model, s.Strategy, s.Workers))
	}
	var out []string
	for _, reason := range order {
		out = append(out, fmt.Sprintf("Not run: %s. %s", strings.Join(rows[reason], ", "),
			reason))
	}
	return out
}

// serialFraction says what share of the work the speed-ups show to be serial, by row and by strategy.
func serialFraction(_ *record.Results, c *Comparison) []string {
	var rows, fits []string
	for i := range c.Groups {
		g := &c.Groups[i]
		var order []string
		points := map[string][]Scaled{}
		for _, l := range g.Lines {
			s, isScaled := g.scaled(l)
			if !isScaled {
				continue
			}
			rows = append(rows, c.name(g, l)+" "+percent(KarpFlatt(s)))
			name := strings.TrimSpace(l.Setting.Strategy + " " + l.Setting.Wire)
			if points[name] == nil {
				order = append(order, name)
			}
			points[name] = append(points[name], s)
		}
		for _, name := range order {
			if f := FitAmdahl(points[name]); len(points[name]) > 1 && f > 0 {
				fits = append(fits, fmt.Sprintf("%s of %s best with %s, which limits it to %.1f×", name,
					c.Title(g), percent(f), 1/f))
			}
		}
	}
	if rows == nil {
		return nil
	}
	text := "Serial fraction by Karp and Flatt, which is the speed-up written as a share of the work that " +
		"more cores do not shorten: " + strings.Join(rows, ", ") + "."
	if fits != nil {
		text += " Amdahl's law fits " + strings.Join(fits, "; ") + ". That holds for the measured " +
			"numbers of cores; beyond them it is a projection."
	}
	return []string{text}
}

// scaled returns the speed-up of a line on more cores than the baseline has; isScaled is false for other
// lines, and for those whose cores do more than the baseline's.
func (g *Group) scaled(l *Line) (s Scaled, isScaled bool) {
	if g.Baseline == nil || !l.Efficiency.Known() || l.isSuperlinear() || l.Cores <= g.Baseline.Cores ||
		l.Setting.Strategy == "none" {
		return Scaled{}, false
	}
	return Scaled{float64(l.Cores) / float64(g.Baseline.Cores), l.Speedup.Median}, true
}
