package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// every is the distance of the iterations that tables show.
const every = 20

// figures returns the plots of a section; without a successful run there are none.
func (s *section) figures() []figure {
	if !slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.OK > 0 }) {
		return nil
	}
	return append([]figure{s.lossFigure(), s.timeFigure(), s.phaseFigure()}, s.accuracyFigures()...)
}

func (s *section) lossFigure() figure {
	all := s.series(func(v *lineView) []float64 { return v.Loss })
	top := 0.0
	for _, one := range all {
		for _, v := range one.values {
			if known(v) {
				top = math.Max(top, v)
			}
		}
	}
	p := curves{id: s.ID + "-loss", title: "Loss against iteration, " + s.Title,
		description: "One curve per row; rows with identical losses share a curve. " +
			"The values are in the table below the plot.",
		yLabel: "loss, mean over the global batch", series: merge(all), hi: top, format: trim}
	caption := "Mean over the global batch, first run of each row."
	for _, name := range []string{"none", "local-sgd", "diloco"} {
		if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Setting.Strategy == name }) {
			caption += " Strategy " + name + ": mean of the workers' own losses."
		}
	}
	if len(p.series) < len(all) {
		caption += " Rows whose losses agree bit for bit share a curve."
	}
	return figure{Title: "Loss against iteration", Caption: caption, Plot: p.markup(),
		Legend: s.legend(), Table: s.valueTable("Loss by iteration", all,
			func(v float64) string { return fixed(v, 4) })}
}

func (s *section) timeFigure() figure {
	all := s.series(func(v *lineView) []float64 {
		ms := make([]float64, len(v.Times))
		for i, t := range v.Times {
			ms[i] = 1e3 * t
		}
		return ms
	})
	top := timeLimit(all)
	above := 0
	for _, one := range all {
		for _, v := range one.values {
			if v > newAxis(0, top, 5, 0, 1).hi {
				above++
			}
		}
	}
	caption := "Slowest rank of each step, median over the runs."
	shown := all
	if reach := smoothing(all); reach > 0 {
		shown = smooth(all, reach)
		caption += fmt.Sprintf(" Bold: running median of %d steps; faint: every step.", 2*reach+1)
	}
	if above == 1 {
		caption += " One value lies above the plot and is drawn on its edge."
	} else if above > 1 {
		caption += fmt.Sprintf(" %d values lie above the plot and are drawn on its edge.", above)
	}
	p := curves{id: s.ID + "-time", title: "Step time against iteration, " + s.Title,
		description: "One curve per row. The values are in the table below the plot.",
		yLabel:      "step time, ms", series: shown, hi: top, format: trim}
	return figure{Title: "Step time against iteration", Caption: caption, Plot: p.markup(),
		Legend: s.legend(), Table: s.valueTable("Step time in ms by iteration", all,
			func(v float64) string { return digits(v, 3) })}
}

// timeLimit returns the upper end of a plot of step times: one slow step must not press all
// curves to the floor.
func timeLimit(all []series) float64 {
	var timed, first []float64
	for _, one := range all {
		timed = append(timed, one.values[min(1, len(one.values)):]...)
		first = append(first, one.values[:min(1, len(one.values))]...)
	}
	if len(timed) == 0 {
		return analysis.Quantile(first, 1)
	}
	return math.Min(analysis.Quantile(timed, 1), 1.5*analysis.Quantile(timed, 0.98))
}

// smoothing returns the reach of the running median that keeps the noise of many steps from
// hiding the rows behind one another; 0 where there are few steps.
func smoothing(all []series) int {
	longest := 0
	for _, one := range all {
		longest = max(longest, len(one.values))
	}
	if longest <= 60 {
		return 0
	}
	return max(2, longest/50)
}

// smooth returns series of running medians with the values behind them. The first step stands
// out for good reason and is left out of the medians.
func smooth(all []series, reach int) []series {
	out := slices.Clone(all)
	for i := range out {
		s := &out[i]
		s.raw = s.values
		s.values = slices.Concat([]float64{math.NaN()}, analysis.RunningMedian(s.raw[1:], reach))
	}
	return out
}

func (s *section) phaseFigure() figure {
	b := bars{id: s.ID + "-phases", title: "Phases of a step, " + s.Title,
		description: "Stacked bars, one per row: forward, backward, exposed communication, " +
			"optimizer, data, other. The values are in the table below the plot."}
	t := table{Name: "Milliseconds per step by phase", Head: []heading{{"row", ""}}}
	var keys []legend
	for i, name := range analysis.Phases() {
		short, detail, _ := strings.Cut(phaseName(name), ", ")
		t.Head = append(t.Head, heading{short, strings.TrimPrefix(detail+", ms", ", ")})
		keys = append(keys, legend{Swatch: box(fmt.Sprintf("%s-phases-k%d", s.ID, i), i),
			Name: phaseName(name)})
	}
	t.Head = append(t.Head, heading{"sum", "ms"})
	for _, v := range s.lines {
		if v.Phases == nil {
			continue
		}
		r := barRow{key: v.key, label: v.Label}
		cells := []cell{{Text: v.key + "  " + v.Label}}
		for _, sec := range v.Phases {
			r.values = append(r.values, 1e3*sec)
			cells = append(cells, cell{Text: millis(sec)})
		}
		cells = append(cells, cell{Text: digits(r.total(), 3)})
		b.rows = append(b.rows, r)
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return figure{Title: "Where a step goes", Caption: "Mean over runs, ranks and the steps " +
		"from the 10th to the 90th percentile. Exposed communication is the time the training thread " +
		"waits for other workers.",
		Plot: b.markup(), Legend: keys, Table: t}
}

func (s *section) series(values func(*lineView) []float64) []series {
	var out []series
	for _, v := range s.lines {
		if list := values(v); len(list) > 0 {
			out = append(out, series{keys: []string{v.key}, label: v.Label, style: v.style,
				values: list})
		}
	}
	return out
}

func (s *section) legend() []legend {
	var out []legend
	for _, v := range s.lines {
		if v.OK > 0 {
			out = append(out, legend{Swatch: swatch(v.style), Key: v.key, Name: v.Label})
		}
	}
	return out
}

// iterations chooses the rows of a table over n iterations: the first, every 20th (every 5th of
// a short run) and the last; a long run is thinned to about a dozen, still multiples of 20.
func iterations(n int) []int {
	step := every
	if n < 2*every {
		step = 5
	}
	for n/step > 12 {
		step += every
	}
	out := []int{1}
	for i := step; i <= n; i += step {
		out = append(out, i)
	}
	if out[len(out)-1] != n && n > 1 {
		out = append(out, n)
	}
	return out
}

// valueTable shows series at chosen iterations, one row per iteration.
func (s *section) valueTable(name string, all []series, format func(float64) string) table {
	t := table{Name: name, Head: []heading{{"iteration", ""}}}
	steps := 0
	for _, one := range all {
		t.Head = append(t.Head, heading{one.keys[0], one.label})
		steps = max(steps, len(one.values))
	}
	if steps == 0 {
		return t
	}
	for _, i := range iterations(steps) {
		cells := []cell{{Text: fmt.Sprint(i)}}
		for _, one := range all {
			text := dash
			if i <= len(one.values) {
				text = format(one.values[i-1])
			}
			cells = append(cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}

// rankTable shows the global loss beside the own loss of every rank at chosen iterations, one row
// per line and iteration.
func (s *section) rankTable() (t table, caption string) {
	steps, ranks := 0, 0
	for _, v := range s.lines {
		steps, ranks = max(steps, len(v.Loss)), max(ranks, len(v.Ranks))
	}
	if steps == 0 {
		return t, ""
	}
	t = table{Name: "Loss of each rank by iteration",
		Head: []heading{{"row", ""}, {"iteration", ""}, {"global", "whole batch"}}}
	for r := range ranks {
		t.Head = append(t.Head, heading{fmt.Sprintf("rank %d", r), "own shards"})
	}
	for _, v := range s.lines {
		for _, i := range iterations(steps) {
			if i <= len(v.Loss) {
				t.Rows = append(t.Rows, v.rankRow(i, ranks))
			}
		}
	}
	return t, "First run of each row, before the update of the iteration. Global: mean over the " +
		"whole batch, the same on all ranks. Rank: mean over this rank's own shards. " +
		"Workers of strategy none have no global loss. A dash under a rank: " +
		"the row has no such rank, or the iteration had no sample for it."
}

// rankRow is the row of iteration i, from 1, in a table with so many ranks.
func (v *lineView) rankRow(i, ranks int) row {
	global := dash
	if v.Setting.Strategy != "none" {
		global = fixed(v.Loss[i-1], 4)
	}
	r := row{Cells: []cell{{Text: v.key + "  " + v.Label}, {Text: fmt.Sprint(i)}, {Text: global}}}
	for rank := range ranks {
		own := dash
		if rank < len(v.Ranks) && i <= len(v.Ranks[rank].OwnLoss) {
			own = fixed(v.Ranks[rank].OwnLoss[i-1], 4)
		}
		r.Cells = append(r.Cells, cell{Text: own})
	}
	return r
}
