package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
)

// fewestCounts is how many numbers of workers make a figure of scaling.
const fewestCounts = 3

// scaling is the rows of a section by way of training, over numbers of workers with as many threads as the
// baseline.
type scaling struct {
	base   *compare.Line
	counts []float64 // of workers, increasing
	curves []curve
}

// curve is the rows of one way of training, by workers.
type curve struct {
	name  string
	lines []*lineView
}

// scalingOf collects what scales in a section.
func (s *section) scalingOf(base *compare.Line) scaling {
	c := scaling{base: base}
	var lines []*lineView
	for _, v := range s.lines {
		isFloor := strategy.Named(v.Setting.Strategy).IsFloor
		if !v.Speedup.Known() || isFloor || v.Setting.Threads != base.Setting.Threads {
			continue
		}
		lines = append(lines, v)
		c.counts = append(c.counts, float64(v.Setting.Workers))
	}
	slices.Sort(c.counts)
	c.counts = slices.Compact(c.counts)
	c.curves = divided(lines)
	return c
}

// divided puts rows into curves: by strategy and settings, then, only where rows would stand above each
// other, by the workers of a host, and by algorithm and link.
func divided(lines []*lineView) []curve {
	all := gather("", lines, func(v *lineView) string { return v.Setting.Strategy + " " + v.settings() })
	for _, more := range []func(*lineView) string{perHost, func(v *lineView) string {
		return v.Setting.Algorithm + " " + v.Setting.Link
	}} {
		var next []curve
		for _, c := range all {
			if c.isOne() {
				next = append(next, c)
			} else {
				next = append(next, gather(c.name, c.lines, more)...)
			}
		}
		all = next
	}
	return all
}

// gather returns a curve for each name that rows have behind the one they have in common.
func gather(common string, lines []*lineView, name func(*lineView) string) (all []curve) {
	for _, v := range lines {
		own := strings.Join(strings.Fields(common+" "+name(v)), " ")
		i := slices.IndexFunc(all, func(c curve) bool { return c.name == own })
		if i < 0 {
			i, all = len(all), append(all, curve{name: own})
		}
		all[i].lines = append(all[i].lines, v)
	}
	for _, c := range all {
		slices.SortStableFunc(c.lines, func(a, b *lineView) int {
			return a.Setting.Workers - b.Setting.Workers
		})
	}
	return all
}

// perHost words how many workers each host of a row has.
func perHost(v *lineView) string {
	switch s := v.Setting; {
	case s.Hosts == 0:
		return ""
	case s.PerHost == 0:
		return "on uneven hosts"
	default:
		return fmt.Sprintf("%d a host", s.PerHost)
	}
}

// isOne reports whether the rows differ as those of one curve do: each has more workers than the one before,
// on as many hosts or on more.
func (c curve) isOne() bool {
	for i, v := range c.lines[1:] {
		before := c.lines[i].Setting
		if v.Setting.Workers == before.Workers || v.Setting.Hosts < before.Hosts {
			return false
		}
	}
	return true
}

// letters are those of the rows of the curve.
func (c curve) letters() string {
	const most = 3
	var all []string
	for _, v := range c.lines {
		all = append(all, v.key)
	}
	if len(all) > most {
		return all[0] + "…" + all[len(all)-1]
	}
	return strings.Join(all, " ")
}

// scalingFigures plot speed-up and efficiency against the number of workers, beside what is ideal on the
// host's cores.
func (s *section) scalingFigures() []figure {
	base := s.lines[0].group.Baseline
	if base == nil {
		return nil
	}
	c := s.scalingOf(base)
	if len(c.counts) < fewestCounts {
		return nil
	}
	speedups, shares, t := s.scalingCurves(c)
	up := plot.Lines{Head: s.head("speedup", "Speed-up against workers", "One curve per strategy, with the "+
		"interval over the rounds; dashed: ideal."), X: "workers", Y: "speed-up over " + base.Label,
		Series: speedups, Ticks: c.counts, Hi: top(speedups)}
	per := plot.Lines{Head: s.head("efficiency", "Efficiency against workers", "One curve per strategy; "+
		"dashed: every core does as much as one of the baseline."), X: "workers", Y: "efficiency per core, %",
		Series: shares, Ticks: c.counts, Hi: math.Max(top(shares), 100)}
	keys := legendOf(speedups)
	return []figure{
		{ID: up.ID, Title: "Speed-up", Caption: "Over " + base.Label + ", round by round. Ideal: as many " +
			"times as there are cores, so it ends at the cores of " + s.whoseCores() + ". A curve has the " +
			"letters of its rows.", Chart: up, Legend: keys, Table: t},
		{ID: per.ID, Title: "Efficiency", Caption: "Speed-up per core. Rows with more workers × threads " +
			"than cores have none: they show contention, not scaling.", Chart: per, Legend: keys, Table: t},
	}
}

// scalingCurves returns a curve of speed-ups and one of efficiencies in percent for each name, behind the
// ideal ones, and a table of both.
func (s *section) scalingCurves(c scaling) (speedups, shares []plot.Series, t table) {
	t = table{Name: "Speed-up and efficiency by workers", Head: []heading{{"row", ""}, {"workers", ""},
		{"cores", ""}, {"speed-up", ""}, {"interval", ""}, {"efficiency", "per core"}}}
	speedups = []plot.Series{ideal(c.counts, c.base, s.lines)}
	shares = []plot.Series{{Label: "ideal", At: []float64{c.counts[0], c.counts[len(c.counts)-1]},
		Values: []float64{100, 100}, IsReference: true}}
	for i, one := range c.curves {
		views := one.lines
		if len(views) < 2 && views[0].Setting.Workers == 1 {
			continue // the baseline alone is no curve
		}
		speedup := plot.Series{Keys: []string{one.letters()}, Label: one.name,
			Style: plot.Style{Colour: views[0].style.Colour, Number: i}}
		share := speedup
		if views[0].Setting.Workers > 1 { // all curves start from the baseline
			views = append(s.views([]*compare.Line{c.base}), views...)
		}
		for _, v := range views {
			at := float64(v.Setting.Workers)
			addScaled(&speedup, at, v.Speedup, 1)
			addScaled(&share, at, v.Efficiency, 100)
			// The baseline begins all curves, and is in the table once.
			if r := v.scalingRow(); !slices.ContainsFunc(t.Rows, r.isNamedAs) {
				t.Rows = append(t.Rows, r)
			}
		}
		speedups, shares = append(speedups, speedup), append(shares, share)
	}
	return speedups, shares, t
}

// scalingRow is the row of a line in the table of scaling.
func (v *lineView) scalingRow() row {
	if v.isBaseline() {
		return row{Cells: []cell{v.name(), {Text: fmt.Sprint(v.Setting.Workers)}, {Text: fmt.Sprint(v.Cores)},
			{Text: "1"}, {Text: dash}, {Text: ratioText(v.Efficiency, percent)}}}
	}
	return row{Cells: []cell{v.name(), {Text: fmt.Sprint(v.Setting.Workers)}, {Text: fmt.Sprint(v.Cores)},
		{Text: ratioText(v.Speedup, twoDecimals)},
		{Text: orDash(between(v.Speedup.Interval.Lo, v.Speedup.Interval.Hi, twoDecimals))},
		{Text: ratioText(v.Efficiency, percent)}}}
}

// isNamedAs reports whether rows have the same first cell.
func (r row) isNamedAs(other row) bool { return r.Cells[0].Text == other.Cells[0].Text }

// addScaled adds a ratio with its interval, times a factor, to a curve over numbers of workers.
func addScaled(s *plot.Series, at float64, r stat.Ratio, factor float64) {
	v, lo, hi := math.NaN(), math.NaN(), math.NaN()
	if r.Known() {
		v, lo, hi = r.Median, r.Interval.Lo, r.Interval.Hi
	}
	s.At = append(s.At, at)
	s.Values = append(s.Values, factor*v)
	s.Lo, s.Hi = append(s.Lo, factor*lo), append(s.Hi, factor*hi)
}

// whoseCores says where the workers had their cores.
func (s *section) whoseCores() string {
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return hasOwnCores(v.Setting) }) {
		return "the row’s hosts"
	}
	return "this machine"
}

// ideal is the speed-up if every core did as much as a core of the baseline: of rows with equally many
// workers, that with most cores.
func ideal(counts []float64, base *compare.Line, lines []*lineView) plot.Series {
	s := plot.Series{Label: "ideal", IsReference: true}
	for _, n := range counts {
		most := 0
		for _, v := range lines {
			if float64(v.Setting.Workers) == n && v.Setting.Threads == base.Setting.Threads && v.OK > 0 {
				most = max(most, v.Cores)
			}
		}
		s.At, s.Values = append(s.At, n), append(s.Values, float64(most)/float64(base.Cores))
	}
	return s
}

// batchSection compares the groups that differ in their batch alone; nil if there are none.
func batchSection(c *compare.Comparison) *section {
	type family struct{ model, data, condition string }
	batches := map[family][]*compare.Group{}
	var order []family
	for i := range c.Groups {
		g := &c.Groups[i]
		f := family{g.Model, g.Data, g.Condition}
		if batches[f] == nil {
			order = append(order, f)
		}
		batches[f] = append(batches[f], g)
	}
	s := &section{ID: "batches", Title: "Effect of the batch size", Work: "Groups of equal work side by " +
		"side. A larger batch makes fewer updates of the same samples, so its loss and accuracy are others."}
	for i, f := range order {
		if groups := batches[f]; len(groups) > 1 {
			s.Figures = append(s.Figures, batchFigure(i, f.model, groups))
		}
	}
	if len(s.Figures) == 0 {
		return nil
	}
	return s
}

// batchFigure plots samples per second against the batch, a curve for each row that several groups have.
func batchFigure(number int, model string, groups []*compare.Group) figure {
	slices.SortStableFunc(groups, func(a, b *compare.Group) int { return a.Batch - b.Batch })
	var places []string
	var all []plot.Series
	for at, g := range groups {
		places = append(places, fmt.Sprint(g.Batch))
		for _, l := range g.Lines {
			if !known(l.PerSecond) {
				continue
			}
			i := slices.IndexFunc(all, func(o plot.Series) bool { return o.Label == l.Label })
			if i < 0 {
				i = len(all)
				all = append(all, plot.Series{Keys: []string{key(i)}, Label: l.Label, Style: style(l, i)})
			}
			all[i].At, all[i].Values = append(all[i].At, float64(at+1)), append(all[i].Values, l.PerSecond)
		}
	}
	p := plot.Lines{Head: plot.Head{ID: fmt.Sprintf("batch-%d", number+1), Title: "Samples per second " +
		"against the batch, " + model, Description: "One curve per row. The values are in the table below " +
		"the plot."},
		X: "global batch", Y: "samples/s", Series: all, Places: places, Hi: top(all)}
	return figure{ID: p.ID, Title: "Samples per second by batch · " + model, Caption: "Of steps " +
		"as long as the median one of each row.", Chart: p, Legend: legendOf(all),
		Table: seriesTable("Samples per second by batch", p, threeDigits)}
}

// seriesTable shows series over named places, a row each.
func seriesTable(name string, p plot.Lines, format func(float64) string) table {
	t := table{Name: name, Head: []heading{{"row", p.X}}}
	for _, place := range p.Places {
		t.Head = append(t.Head, heading{place, ""})
	}
	for _, s := range p.Series {
		if s.IsReference {
			continue
		}
		r := row{Cells: []cell{{Text: s.Name()}}}
		for at := range p.Places {
			text := dash
			if i := slices.Index(s.At, float64(at+1)); i >= 0 {
				text = format(s.Values[i])
			}
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// threeDigits formats a value of a table.
func threeDigits(v float64) string { return digits(v, 3) }
