package report

import (
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
)

// accuracyFigures plots the accuracy of the rows that were evaluated more than once, against seconds of
// training and against samples.
func (s *section) accuracyFigures() []figure {
	place := func(name string, at func(compare.Evaluated) float64) []plot.Series {
		var all []plot.Series
		for _, v := range s.lines {
			curve := v.Accuracy.Curve
			if len(curve) < 2 || strategy.Named(v.Setting.Strategy).IsFloor {
				continue
			}
			one := plot.Series{Keys: []string{v.key}, Label: v.Label, Style: v.style}
			for _, e := range curve {
				one.At, one.Values = append(one.At, at(e)), append(one.Values, 100*e.Mean)
				if v.Seeds > 1 {
					one.Lo, one.Hi = append(one.Lo, 100*e.Lo), append(one.Hi, 100*e.Hi)
				}
			}
			all = append(all, one)
		}
		return all
	}
	bySeconds := place("seconds", func(e compare.Evaluated) float64 { return e.Seconds })
	if bySeconds == nil {
		return nil
	}
	bySamples := place("samples", func(e compare.Evaluated) float64 { return e.Samples })
	return []figure{
		s.accuracyFigure("seconds", "seconds of training", bySeconds,
			"Test accuracy against seconds of training, without evaluations."),
		s.accuracyFigure("samples", "samples", bySamples,
			"Test accuracy against samples. Rows that are exact share a curve."),
	}
}

// accuracyFigure plots accuracies in percent.
func (s *section) accuracyFigure(id, label string, all []plot.Series, caption string) figure {
	lo, hi := math.Inf(1), 0.0
	hasBand := false
	for _, one := range all {
		for _, v := range slices.Concat(one.Values, one.Lo, one.Hi) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
		hasBand = hasBand || one.Lo != nil
	}
	if hasBand {
		caption += " Lines are means over seeds, bands reach from the lowest to the highest."
	}
	shown := all
	if id == "samples" {
		shown = plot.Merge(all)
	}
	p := plot.Lines{Head: s.head("accuracy-"+id, "Accuracy against "+label, "One curve per row."), X: label,
		Y: "test accuracy, %", Series: shown, Lo: 10 * math.Floor(lo/10), Hi: hi}
	return figure{ID: p.ID, Title: "Accuracy against " + label, Caption: caption, Chart: p,
		Legend: s.legend(), Table: curveTable("Accuracy in percent by "+label, label, all)}
}

// curveTable shows every point of curves that have places of their own, a row each.
func curveTable(name, place string, all []plot.Series) table {
	t := table{Name: name, Head: []heading{{"row", ""}, {place, ""}, {"accuracy", "%"},
		{"seeds", "lowest to highest"}}}
	for _, one := range all {
		for i, v := range one.Values {
			band := dash
			if one.Lo != nil {
				band = between(one.Lo[i], one.Hi[i], func(v float64) string { return fixed(v, 2) })
			}
			t.Rows = append(t.Rows, row{Cells: []cell{{Text: one.Name()}, {Text: digits(one.At[i], 4)},
				{Text: fixed(v, 2)}, {Text: band}}})
		}
	}
	return t
}
