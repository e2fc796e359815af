package report

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
)

// figure is a chart with its legend and some of its values as a table.
type figure struct {
	Title, Caption string
	Chart          plot.Chart
}

// ID names the figure on its page, and its files.
func (f figure) ID() string { return f.Chart.Name().ID }

// Plot is the chart as it stands on a page.
func (f figure) Plot() template.HTML { return plot.Markup(f.Chart) }

// Table has the values of the chart, some of them where it has many.
func (f figure) Table() table {
	switch c := f.Chart.(type) {
	case plot.Lines:
		return valuesOfLines(f.Title, c)
	case plot.Bars:
		return valuesOfBars(f.Title, c)
	case plot.Dots:
		return valuesOfDots(f.Title, c)
	}
	return table{}
}

// within says in the title of a picture which part of the report it is of.
func (f *figure) within(title string) {
	if f != nil {
		f.Title += " · " + title
	}
}

// drawn leaves out figures without a value.
func drawn(all ...figure) []figure {
	return slices.DeleteFunc(all, func(f figure) bool {
		switch c := f.Chart.(type) {
		case plot.Lines:
			return !slices.ContainsFunc(c.Series, func(s plot.Series) bool {
				return !s.IsReference && slices.ContainsFunc(s.Values, known)
			})
		case plot.Bars:
			return len(c.Rows) == 0
		}
		return f.Chart == nil
	})
}

// Bounds of the values of curves in a table.
const (
	mostRows  = 12 // of each curve
	mostLines = 60 // of all of them, where each has places of its own
)

// valuesOfLines has a row for each place, or for each point where curves have places of their own or bands.
func valuesOfLines(name string, p plot.Lines) table {
	curves := slices.DeleteFunc(slices.Clone(p.Series), func(s plot.Series) bool { return s.IsReference })
	place := func(at float64) string {
		switch {
		case p.Places != nil:
			return p.Places[int(at)-1]
		case at == math.Trunc(at):
			return trim(at)
		}
		return digits(at, 4)
	}
	first := curves[0]
	if !slices.ContainsFunc(curves, func(s plot.Series) bool {
		return s.Lo != nil || !slices.Equal(s.At,
			first.At)
	}) {
		columns := []column[int]{col(p.X, "", func(i int) string { return place(first.At[i]) })}
		for _, s := range curves {
			columns = append(columns, col(s.Name(), "", func(i int) string { return digits(s.Values[i], 4) }))
		}
		return tableOf(name, some(len(first.At), mostRows), columns...)
	}
	type sample struct {
		of *plot.Series
		i  int
	}
	var all []sample
	for at := range curves {
		for _, i := range some(len(curves[at].Values), max(2, min(mostRows, mostLines/len(curves)))) {
			all = append(all, sample{&curves[at], i})
		}
	}
	return tableOf(name, all,
		col("row", "", func(s sample) string { return s.of.Name() }),
		col(p.X, "", func(s sample) string { return place(s.of.At[s.i]) }),
		col(p.Y, "", func(s sample) string { return digits(s.of.Values[s.i], 4) }),
		col("from–to", "", func(s sample) string {
			if s.of.Lo == nil {
				return dash
			}
			return orDash(between(s.of.Lo[s.i], s.of.Hi[s.i], fourDigits))
		}))
}

// some chooses about as many of n indices as a table shows, evenly, the last among them.
func some(n, most int) (all []int) {
	shown := min(n, most)
	for i := range shown {
		all = append(all, (i+1)*n/shown-1)
	}
	return all
}

// valuesOfBars has a row for each bar.
func valuesOfBars(name string, b plot.Bars) table {
	columns := []column[plot.Bar]{col("row", "", func(r plot.Bar) string {
		return strings.TrimSpace(r.Key +
			"  " + r.Label)
	})}
	for i, part := range b.Parts {
		columns = append(columns, col(part, "", func(r plot.Bar) string {
			if i >= len(r.Values) {
				return dash
			}
			return digits(r.Values[i], 3)
		}))
	}
	columns = append(columns, col("sum", "", func(r plot.Bar) string { return digits(r.Total(), 3) }))
	if b.Beside != "" {
		columns = append(columns, col(b.Beside, "", func(r plot.Bar) string { return digits(r.Beside, 3) }))
	}
	return tableOf(name+", "+b.X, b.Rows, columns...)
}

// valuesOfDots has a row for each row of dots; values that do not count are in parentheses.
func valuesOfDots(name string, d plot.Dots) table {
	var all []plot.DotRow
	groups := map[string]string{}
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			groups[r.Key] = g.Title
			all = append(all, r)
		}
	}
	three := func(v float64) string { return digits(v, 3) }
	return tableOf(name+", "+d.X, all,
		col("row", "", func(r plot.DotRow) string { return r.Key + "  " + r.Label }),
		col("median", "ms", func(r plot.DotRow) string { return three(r.Middle) }),
		col("interval", "ms", func(r plot.DotRow) string { return orDash(between(r.Lo, r.Hi, three)) }),
		col("runs", "ms", func(r plot.DotRow) string {
			var texts []string
			for _, v := range r.Values {
				texts = append(texts, three(v))
			}
			for _, v := range r.Left {
				texts = append(texts, "("+three(v)+")")
			}
			return strings.Join(texts, " ")
		}),
		col("told apart", "", func(r plot.DotRow) string { return groups[r.Key] }))
}

// curves plots series: those that agree bit for bit share one, and one alone needs no letter.
func curves(head plot.Head, x, y, caption string, all []plot.Series) figure {
	p := plot.Lines{Head: head, X: x, Y: y, Series: plot.Merge(all)}
	if len(all) == 1 {
		p.Series[0].Keys = nil
	} else if len(p.Series) < len(all) {
		caption += " What agrees bit for bit shares a curve."
	}
	return figure{Title: head.Title, Caption: caption, Chart: p}
}

// limited draws values above the most of nearly all steps on the upper edge: one slow step must not press all
// curves to the floor.
func (f figure) limited() figure {
	if lines, isLines := f.Chart.(plot.Lines); isLines {
		lines.Most = timeLimit(lines.Series)
		f.Chart, f.Caption = lines, f.Caption+" Greater values are drawn on the upper edge."
	}
	return f
}

// mostPoints is how many points of a curve over steps are drawn.
const mostPoints = 150

// steady returns the means of neighbouring values, weighted, at the places of the last ones: each of at least
// as much weight as the values have, so that a step of a remainder of few samples makes no spike, and of more
// where there are many values.
func steady(at, values, weights []float64) (places, means []float64) {
	weight := func(i int) float64 {
		if i < len(weights) {
			return weights[i]
		}
		return 1
	}
	sum := 0.0
	for i := range values {
		sum += weight(i)
	}
	typical := stat.Quantile(weights, 0.5)
	if len(weights) == 0 {
		typical = 1
	}
	least := math.Max(typical/2, sum/mostPoints)
	mean, gathered := 0.0, 0.0
	for i, v := range values {
		if known(v) {
			mean, gathered = mean+v*weight(i), gathered+weight(i)
		}
		switch last := len(means) - 1; {
		case gathered >= least, last < 0 && i == len(values)-1 && gathered > 0:
			places, means = append(places, at[i]), append(means, mean/gathered)
			mean, gathered = 0, 0
		case i == len(values)-1 && gathered > 0: // what is left belongs to the last point
			means[last] = (means[last]*least + mean) / (least + gathered)
			places[last] = at[i]
		}
	}
	return places, means
}

// differences returns by how much each value is above the one before.
func differences(values []float64) []float64 {
	out := slices.Clone(values)
	for i := len(out) - 1; i > 0; i-- {
		out[i] -= out[i-1]
	}
	return out
}

// timeLimit returns the upper end of a plot of step times.
func timeLimit(all []plot.Series) float64 {
	var timed []float64
	for _, one := range all {
		timed = append(timed, one.Values[min(1, len(one.Values)):]...)
	}
	if len(timed) == 0 {
		return 0
	}
	return math.Min(stat.Quantile(timed, 1), 1.5*stat.Quantile(timed, 0.98))
}

// scaled returns values times a factor.
func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = by * v
	}
	return out
}
