package report

import (
	"math"

	"lockstep/app/analysis"
)

// accuracyFigures plots the accuracy of the rows that were evaluated more than once, against seconds of
// training and against samples.
func (s *section) accuracyFigures() []figure {
	place := func(name string, at func(analysis.Evaluated) float64) []series {
		var all []series
		for _, v := range s.lines {
			curve := v.Accuracy.Curve
			if len(curve) < 2 || v.Setting.Strategy == "none" {
				continue
			}
			one := series{keys: []string{v.key}, label: v.Label, style: v.style}
			for _, e := range curve {
				one.at, one.values = append(one.at, at(e)), append(one.values, 100*e.Mean)
				if v.Seeds > 1 {
					one.lo, one.hi = append(one.lo, 100*e.Lo), append(one.hi, 100*e.Hi)
				}
			}
			all = append(all, one)
		}
		return all
	}
	bySeconds := place("seconds", func(e analysis.Evaluated) float64 { return e.Seconds })
	if bySeconds == nil {
		return nil
	}
	bySamples := place("samples", func(e analysis.Evaluated) float64 { return e.Samples })
	return []figure{
		s.accuracyFigure("seconds", "seconds of training", bySeconds,
			"Test accuracy against seconds of training, without evaluations."),
		s.accuracyFigure("samples", "samples", bySamples,
			"Test accuracy against samples. Rows that are exact share a curve."),
	}
}

// accuracyFigure plots accuracies in percent.
func (s *section) accuracyFigure(id, label string, all []series, caption string) figure {
	lo, hi := math.Inf(1), 0.0
	hasBand := false
	for _, one := range all {
		for _, v := range append(append([]float64{}, one.values...), append(one.lo, one.hi...)...) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
		hasBand = hasBand || one.lo != nil
	}
	if hasBand {
		caption += " Lines are means over seeds, bands reach from the lowest to the highest."
	}
	shown := all
	if id == "samples" {
		shown = merge(all)
	}
	p := curves{id: s.ID + "-accuracy-" + id, title: "Accuracy against " + label + ", " + s.Title,
		description: "One curve per row. The values are in the table below the plot.",
		yLabel:      "test accuracy, %", xLabel: label, series: shown,
		lo: 10 * math.Floor(lo/10), hi: hi, format: trim}
	return figure{Title: "Accuracy against " + label, Caption: caption, Plot: p.markup(),
		Legend: s.legend(), Table: curveTable("Accuracy in percent by "+label, label, all)}
}

// curveTable shows every point of curves that have places of their own, a row each.
func curveTable(name, place string, all []series) table {
	t := table{Name: name, Head: []heading{{"row", ""}, {place, ""}, {"accuracy", "%"},
		{"seeds", "lowest to highest"}}}
	for _, one := range all {
		for i, v := range one.values {
			band := dash
			if one.lo != nil {
				band = between(one.lo[i], one.hi[i], func(v float64) string { return fixed(v, 2) })
			}
			t.Rows = append(t.Rows, row{Cells: []cell{{Text: one.name()}, {Text: digits(one.at[i], 4)},
				{Text: fixed(v, 2)}, {Text: band}}})
		}
	}
	return t
}
