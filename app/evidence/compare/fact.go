package compare

import (
	"cmp"
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

func speedup(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		b := c.Groups[i].Baseline
		if b == nil {
			out = append(out, fmt.Sprintf("%s: no successful run of strategy single, hence no "+
				"speed-up.", c.Title(&c.Groups[i])))
			continue
		}
		if first := c.Groups[i].wantedBaseline(); first != b {
			out = append(out, fmt.Sprintf("%s: speed-up is over %s, as %s has no successful run.",
				c.Title(&c.Groups[i]), b.Label, first.Label))
		}
		if i > 0 {
			continue
		}
		cores := spelling.Count(b.Cores, "core")
		text := fmt.Sprintf("Speed-up is the median step time of single on %s divided "+
			"by that of the row, at equal work per step and taken round by round; findings order rows "+
			"likewise. Efficiency is speed-up per core used, relative to single on %s.", cores, cores)
		if slices.ContainsFunc(c.Groups[i].Lines, c.Groups[i].isOfOtherMath) {
			text += " Rows of another math than that of single have none."
		}
		out = append(out, text)
	}
	return out
}

// toldApart says when findings call rows different.
func toldApart(_ *record.Results, c *Comparison) []string {
	pairs := 0
	for i := range c.Groups {
		for _, p := range c.Groups[i].Pairs {
			if p.isTest() {
				pairs++
			}
		}
	}
	if pairs == 0 {
		return nil
	}
	return one("Findings call two rows different only if their rounds do: a paired t-test of the logarithms "+
		"of the ratios, corrected for the number of pairs (%d, after Holm), gives less than %.0f %%, and "+
		"the whole interval of the median ratio lies more than %s from 1. Smaller differences are too close "+
		"to call however many rounds show them: another hour may turn them.", pairs,
		100*stat.Significance, Least())
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
		if stat.IsFinite(factor(l)) && (most == nil || factor(l) > factor(most)) {
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
	var out []string
	isAsync := func(l *Line) bool { return l.strategy().IsAsync }
	names, any := c.where(func(l *Line) bool { return l.Epoch.N == 0 && !isAsync(l) })
	if any {
		out = one("No epoch time for %s: the run ended before a complete pass over the training "+
			"set, and a projection is no measurement.", names)
	}
	if names, any = c.where(func(l *Line) bool { return l.Epoch.N == 0 && isAsync(l) }); any {
		out = append(out, one("No epoch time for %s: asynchronous workers share the steps, and none of them "+
			"sees a whole pass over the training set.", names)...)
	}
	return out
}

// oneBucket names the rows that could hide no exchange behind their backward pass, because one bucket holds
// all gradients.
func oneBucket(_ *record.Results, c *Comparison) []string {
	var out []string
	for model, n := range Parameters() {
		out = append(out, inOneBucket(model, 4*float64(n), c)...)
	}
	slices.Sort(out)
	return out
}

// inOneBucket is oneBucket for the rows of a network whose gradients have so many bytes.
func inOneBucket(model string, bytes float64, c *Comparison) []string {
	bucket := 0.0
	names, any := c.where(func(l *Line) bool {
		s := l.Setting
		if s.Model != model || s.Strategy != strategy.DDP || s.Workers < 2 || l.Hidden != 0 {
			return false
		}
		size, isGiven := configOf(l.runs[0])["bucket"].(float64)
		isOne := isGiven && bytes <= size
		if isOne {
			bucket = size
		}
		return isOne
	})
	if !any {
		return nil
	}
	smaller := 1 << int(math.Log2(bytes/3/1024))
	return one("All gradients fit into one bucket, which is complete when the backward pass ends, so "+
		"nothing could be exchanged during it: %s (%.3g MiB of gradients, buckets of %.3g). Smaller "+
		"buckets overlap, as ddp:bucket=%dKiB.", names, bytes/(1<<20), bucket/(1<<20), smaller)
}

func interleaved(r *record.Results, c *Comparison) []string {
	if r.Ran() < 2 {
		return nil
	}
	over := "all rows"
	for _, row := range r.Rows {
		if cmp.Or(row.Rounds, r.Rounds) < r.Ran() {
			over = "the rows, some of which have fewer"
		}
	}
	order := "every second round in reverse order"
	if r.Order != 0 {
		order = fmt.Sprintf("in an order drawn for every two rounds (seed %d), the second round in reverse",
			r.Order)
	}
	beside := ""
	if slices.ContainsFunc(r.Rows, func(row record.Row) bool { return row.Block > 0 }) {
		beside = " Rows that are compared ran one after another in each round."
	}
	return one("The runs were interleaved: %d rounds over %s, %s, so that a drift of the machine meets all "+
		"rows alike.%s", r.Ran(), over, order, beside)
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
		out = append(out, fmt.Sprintf("Not run: %s. %s", strings.Join(rows[reason], ", "), reason))
	}
	return out
}

// encrypted names the rows whose links between hosts were encrypted, which takes time of the cores.
func encrypted(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.hasEncryption(record.EncryptionTLS) })
	if !any {
		return nil
	}
	return one("Links between hosts were encrypted (TLS) in %s. lockstep commbench --encryption tls,none "+
		"shows what that costs.", names)
}

// serialFraction says what share of the work the speed-up of each row shows to be serial.
func serialFraction(_ *record.Results, c *Comparison) []string {
	var rows []string
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, l := range g.Lines {
			times, isScaled := g.moreCores(l)
			switch {
			case !isScaled:
			case l.Speedup.Median < 1: // more than all of the work: the exchange adds some
				rows = append(rows, c.name(g, l)+" none (slower than the baseline)")
			default:
				rows = append(rows, c.name(g, l)+" "+serialText(l.Speedup, times))
			}
		}
	}
	if rows == nil {
		return nil
	}
	return []string{"Serial fraction by Karp and Flatt, which is the speed-up written as a share of the " +
		"work that more cores do not shorten, with that of its interval: " + strings.Join(rows, ", ") + "."}
}

// serialText returns the serial fraction of a speed-up by so many processors, with that of its interval if it
// has one.
func serialText(speedup stat.Ratio, processors float64) string {
	text := percent(stat.KarpFlatt(speedup.Median, processors))
	if speedup.Interval.Coverage == 0 {
		return text + " (no interval)"
	}
	least := max(0, stat.KarpFlatt(speedup.Interval.Hi, processors))
	most := min(stat.KarpFlatt(speedup.Interval.Lo, processors), 1)
	return fmt.Sprintf("%s (%s to %s)", text, percent(least), percent(most))
}

// moreCores returns how many times the cores of the baseline a line with a speed-up has; false for other
// lines, and for those whose cores do more than the baseline's.
func (g *Group) moreCores(l *Line) (times float64, isScaled bool) {
	if g.Baseline == nil || !l.Efficiency.Known() || l.isSuperlinear() || l.Cores <= g.Baseline.Cores ||
		l.strategy().IsFloor {
		return 0, false
	}
	return float64(l.Cores) / float64(g.Baseline.Cores), true
}
