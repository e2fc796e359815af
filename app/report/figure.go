package report

import (
	"cmp"
	"html/template"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
)

// figure is a chart with its name, and what its marks stand for.
type figure struct {
	plot.Head
	Caption string
	plot.Chart
}

// Plot is the chart as it stands on a page.
func (f figure) Plot() template.HTML { return plot.Markup(f.Head, f.Chart) }

// Table has the values of the chart, some of them where it has many.
func (f figure) Table() table {
	switch chart := f.Chart.(type) {
	case plot.Lines:
		return curveTable(f.Title, chart)
	case plot.Tabular:
		return dataTable(f.Title, chart.Data())
	}
	return table{}
}

// dataTable has rows of data, below the names of its columns.
func dataTable(title string, data [][]any) table {
	const most = 10 // of each name
	head, rows := data[0], data[1:]
	names := map[any]bool{} // of rows
	for _, r := range rows {
		names[r[0]] = true
	}
	shown := make([][]any, min(len(rows), most*len(names)))
	for i := range shown {
		shown[i] = rows[(i+1)*len(rows)/len(shown)-1]
	}
	var columns []column[[]any]
	for i, name := range head {
		columns = append(columns, col(name.(string), "", func(r []any) string {
			if v, isNumber := r[i].(float64); isNumber {
				return number(v)
			}
			return r[i].(string)
		}))
	}
	return tableOf(title, shown, columns...)
}

// curveTable has a row for each curve with its value at five places, from the first to the last, or at fewer.
func curveTable(title string, lines plot.Lines) table {
	place, value := lines.Place, lines.Format
	if place == nil {
		place = number
	}
	if value == nil {
		value = number
	}
	curves := slices.DeleteFunc(slices.Clone(lines.Series), func(s plot.Series) bool { return s.IsReference })
	columns := []column[plot.Series]{col("curve", "", func(s plot.Series) string {
		return cmp.Or(s.Name(), lines.Y)
	})}
	for i, name := range []string{"first", "early", "middle", "late", "last"} {
		unit := ""
		if i == 0 {
			unit = lines.Y
		}
		columns = append(columns, cells(name, unit, func(s plot.Series) cell {
			last := len(s.Values) - 1
			at, before := i*last/4, (i-1)*last/4
			if i > 0 && at == before { // a curve of fewer points
				return cell{Text: dash}
			}
			return cell{Text: value(s.Values[at]), Small: "at " + place(s.At[at])}
		}))
	}
	return tableOf(title, curves, columns...)
}

// number writes a value of a chart: whole if it is, else with four digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e9 {
		return trim(v)
	}
	return digits(v, 4)
}

// drawn leaves out figures without a value.
func drawn(all ...figure) []figure {
	return slices.DeleteFunc(all, func(f figure) bool { return f.Chart == nil })
}

// against plots a curve for each item.
func against[T any](h plot.Head, x, y, caption string, items []T, curve func(T) plot.Series) figure {
	var all []plot.Series
	for _, item := range items {
		all = append(all, curve(item))
	}
	return curves(h, x, y, caption, all)
}

// curves plots the series that have values, unless each is a point: those are in tables. Series that agree
// bit for bit share a curve, and one alone needs no letter.
func curves(h plot.Head, x, y, caption string, all []plot.Series) figure {
	all = slices.DeleteFunc(all, func(s plot.Series) bool { return !slices.ContainsFunc(s.Values, known) })
	p := plot.Lines{X: x, Y: y, Series: plot.Merge(all)}
	switch {
	case !slices.ContainsFunc(all, func(s plot.Series) bool { return len(s.Values) > 1 }):
		return figure{}
	case len(all) == 1:
		p.Series[0].Keys = nil
	case len(p.Series) < len(all):
		caption += " What agrees bit for bit shares a curve."
	}
	return figure{h, caption, p}
}

// limited draws values above the most of nearly all steps on the upper edge: one slow step must not press all
// curves to the floor.
func (f figure) limited() figure {
	lines, isLines := f.Chart.(plot.Lines)
	if !isLines {
		return f
	}
	var timed []float64
	for _, one := range lines.Series {
		timed = append(timed, one.Values[min(1, len(one.Values)):]...)
	}
	if len(timed) > 0 {
		lines.Most = math.Min(stat.Quantile(timed, 1), 1.5*stat.Quantile(timed, 0.98))
	}
	return figure{f.Head, f.Caption + " Greater values are drawn on the upper edge.", lines}
}

// phased is what takes time by phase: a row, a rank, or a run.
type phased struct {
	name    string
	seconds map[string]float64
	hidden  float64 // communication that computation hid; NaN: not told
}

// phaseFigure stacks phases, times a factor, with the exchange that computation hid beside the exposed one.
func phaseFigure(h plot.Head, x, caption string, names []string, by float64, all []phased) figure {
	if !slices.ContainsFunc(all, func(one phased) bool { return one.seconds[compare.CoreWait] > 0 }) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == compare.CoreWait })
	}
	b := plot.Bars{X: x, BesideAt: slices.Index(names, "sync_exposed")}
	for _, name := range names {
		b.Parts = append(b.Parts, phaseText(name))
	}
	for _, one := range all {
		bar := plot.Bar{Name: one.name, Beside: by * one.hidden}
		for _, name := range names {
			bar.Values = append(bar.Values, by*one.seconds[name])
		}
		if bar.Total() > 0 {
			b.Rows = append(b.Rows, bar)
		}
		if known(one.hidden) {
			b.Beside = "hidden communication"
		}
	}
	if b.Rows == nil {
		return figure{}
	}
	caption += " Exchange: the training thread waits for other workers."
	if slices.Contains(names, compare.CoreWait) {
		caption += " Waiting for cores: a thread of the worker, or of one that it waits for, was ready to " +
			"run and had none; it is in no other phase."
	}
	if b.Beside != "" {
		caption += " The outlined bar is communication that computation hid, which takes longer beside it " +
			"than alone."
	}
	return figure{h, caption, b}
}

// coreWaits words [compare.CoreWait].
const coreWaits = "waiting for cores"

// phaseText words a phase.
func phaseText(name string) string {
	switch name {
	case "sync_exposed":
		return "exchange"
	case compare.CoreWait:
		return coreWaits
	}
	return name
}

// mostPoints is how many points of a curve over steps are drawn.
const mostPoints = 150

// steady returns the means of neighbouring values, weighted, at the places of the last ones: each of at least
// as much weight as the values have, so that a step of a remainder of few samples makes no spike, and of more
// where there are many values. Weights of 1 are nil.
func steady(at, values, weights []float64) (places, means []float64) {
	if weights == nil || !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }) {
		weights = slices.Repeat([]float64{1}, len(values)) // they were not told
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	least := math.Max(stat.Quantile(weights, 0.5)/2, sum/mostPoints)
	mean, gathered := 0.0, 0.0
	for i, v := range values {
		if known(v) {
			mean, gathered = mean+v*weights[i], gathered+weights[i]
		}
		isRest := i == len(values)-1 && gathered > 0
		switch last := len(means) - 1; {
		case gathered >= least, isRest && last < 0:
			places, means = append(places, at[i]), append(means, mean/gathered)
			mean, gathered = 0, 0
		case isRest: // it belongs to the last point
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

// scaled returns values times a factor.
func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = by * v
	}
	return out
}
