package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
)

// head names a chart of the section.
func (s *section) head(id, title string) plot.Head {
	return plot.Head{ID: s.ID + "-" + id, Title: title}
}

// stepFigure is the picture of a section: the step time of each row, a dot per run, sorted, with the rows
// that cannot be told apart in one block.
func (s *section) stepFigure() *figure {
	d := plot.Dots{Head: s.head("steps", "Step time of each row"), X: "step time, ms"}
	d.IsLead = true
	for _, g := range s.ranking() {
		group := plot.DotGroup{Title: g.title + g.because(), IsOne: g.isOne}
		for _, v := range g.lines {
			group.Rows = append(group.Rows, v.dots())
		}
		d.Groups = append(d.Groups, group)
	}
	caption := "A dot: the median step of a run. Tick: the row’s median; bar: its interval. On the right " +
		"the median, and the speed-up over the baseline, round by round. 4×1: four workers of one thread " +
		"each; the letter names the row below."
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Measured < v.OK || v.Disturbed }) {
		caption += " Hollow, in the table in parentheses: others took cores from the run."
	}
	return &figure{Title: "Step time", Caption: caption, Chart: d}
}

// notRanked is the heading of rows that the answer leaves out.
const notRanked = "Not ranked"

// ranked is a block of the picture.
type ranked struct {
	title string
	isOne bool
	lines []*lineView
}

// because says why its rows are not ranked, where the reason is one.
func (r ranked) because() string {
	if r.title != notRanked {
		return ""
	}
	first := r.lines[0].group.Unranked(r.lines[0].Line)
	for _, v := range r.lines {
		if v.group.Unranked(v.Line) != first {
			return ": another program, result or work, no exchange, or cores taken by others"
		}
	}
	return ": " + first
}

// ranking sorts the lines of a section as its answer does, then those that are not ranked by their steps.
func (s *section) ranking() []ranked {
	v := s.lines[0].group.Verdict()
	told := slices.DeleteFunc(slices.Clone(v.Ranked),
		func(l *compare.Line) bool { return slices.Contains(v.Tied, l) })
	first := ranked{title: "Fastest", lines: s.views(v.Tied)}
	slower := ranked{title: "Told apart from the first row: slower", lines: s.views(told)}
	switch {
	case v.IsOnce:
		first.title = "No two rounds in common: not decided"
		if v.IsOneRun() {
			first.title = "One run each: not decided"
		}
	case len(v.Tied) > 1:
		first.title, first.isOne = "Cannot be told apart", true
	case len(v.Ranked) == 1:
		first.title = "Alone"
	}
	rest := ranked{title: notRanked}
	for _, one := range s.lines {
		if one.OK > 0 && !slices.Contains(v.Ranked, one.Line) {
			rest.lines = append(rest.lines, one)
		}
	}
	slices.SortStableFunc(rest.lines, func(a, b *lineView) int {
		return int(math.Copysign(1, a.Step.Median-b.Step.Median))
	})
	return slices.DeleteFunc([]ranked{first, slower, rest}, func(r ranked) bool { return len(r.lines) == 0 })
}

// views returns the views of lines, in their order.
func (s *section) views(lines []*compare.Line) []*lineView {
	var out []*lineView
	for _, l := range lines {
		out = append(out, s.lines[slices.IndexFunc(s.lines, func(v *lineView) bool { return v.Line == l })])
	}
	return out
}

// dots is the row of a line in the picture, in milliseconds.
func (v *lineView) dots() plot.DotRow {
	in := v.Interval()
	r := plot.DotRow{Key: v.key, Label: v.Label, Style: v.style, Middle: 1e3 * v.Step.Median, Lo: 1e3 * in.Lo,
		Hi: 1e3 * in.Hi, End: millis(v.Step.Median) + " ms"}
	if v.Speedup.Known() && !v.isBaseline() {
		r.End += fmt.Sprintf(" · %.2f×", v.Speedup.Median)
	}
	for _, run := range v.Runs() {
		if run.IsCounted {
			r.Values = append(r.Values, 1e3*run.Step)
		} else {
			r.Left = append(r.Left, 1e3*run.Step)
		}
	}
	return r
}

// lossFigures plot the loss against seconds and against samples.
func (s *section) lossFigures() []figure {
	caption := "Mean over the global batch, first counted run of each row."
	if slices.ContainsFunc(s.lines, func(v *lineView) bool {
		way := strategy.Named(v.Setting.Strategy)
		return way.IsLoose() && !way.IsAsync
	}) {
		caption += " Of workers that do not meet in every step: mean of their own losses."
	}
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Repeats > 0 }) {
		caption += " Curves of another program end where it trains on its first batches again."
	}
	of := func(at func(*lineView) []float64) (all []plot.Series) {
		for _, v := range s.lines {
			if loss := v.SharedLoss(); len(loss) > 0 {
				samples := differences(v.LossSamples[:len(loss)])
				all = append(all, v.series(steady(at(v)[:len(loss)], loss, samples)))
			}
		}
		return all
	}
	bySeconds := of(func(v *lineView) []float64 { return v.LossSeconds })
	bySamples := of(func(v *lineView) []float64 { return v.LossSamples })
	return []figure{
		curves(s.head("loss-seconds", "Loss against seconds of training steps"), "seconds", "loss", caption,
			bySeconds),
		curves(s.head("loss", "Loss against samples"), "samples", "loss", caption+
			fmt.Sprintf(" One iteration is a batch of %d.", s.lines[0].Setting.Batch), bySamples)}
}

// accuracyFigures plots the accuracy of the rows that were evaluated more than once, against seconds of
// training and against samples.
func (s *section) accuracyFigures() []figure {
	hasBand := false
	of := func(at func(compare.Evaluated) float64) (all []plot.Series) {
		for _, v := range s.lines {
			curve := v.Accuracy.Curve
			if len(curve) < 2 || strategy.Named(v.Setting.Strategy).IsFloor {
				continue
			}
			one := v.series(nil, nil)
			for _, e := range curve {
				one.At, one.Values = append(one.At, at(e)), append(one.Values, 100*e.Mean)
				if v.Seeds > 1 {
					one.Lo, one.Hi = append(one.Lo, 100*e.Lo), append(one.Hi, 100*e.Hi)
					hasBand = true
				}
			}
			all = append(all, one)
		}
		return all
	}
	bySeconds := of(func(e compare.Evaluated) float64 { return e.Seconds })
	bySamples := of(func(e compare.Evaluated) float64 { return e.Samples })
	caption := "On all test samples; the time is without evaluations."
	if hasBand {
		caption += " Lines are means over seeds, bands reach from the lowest to the highest."
	}
	return []figure{
		curves(s.head("accuracy-seconds", "Accuracy against seconds of training"), "seconds", accuracyAxis,
			caption,
			bySeconds),
		curves(s.head("accuracy-samples", "Accuracy against samples"), "samples", accuracyAxis, caption,
			bySamples)}
}

const accuracyAxis = "test accuracy, %"

// timeFigure plots the step time of each row against the iteration.
func (s *section) timeFigure() figure {
	var all []plot.Series
	for _, v := range s.lines {
		if len(v.Times) > 0 {
			var at []float64
			for i := range v.Times {
				at = append(at, float64(i+1))
			}
			all = append(all, v.series(steady(at, scaled(v.Times, 1e3), nil)))
		}
	}
	return curves(s.head("time", "Step time against iteration"), "iteration", "step time, ms",
		"Slowest rank of "+
			"each step, median over the runs; of many steps, means of neighbours.", all).limited()
}

// phased is what takes time by phase: a row, a rank, or a run.
type phased struct {
	key, label string
	seconds    map[string]float64
	hidden     float64 // communication that computation hid; NaN: not told
}

// phaseFigure stacks phases, times a factor, with the exchange that computation hid beside the exposed one.
func phaseFigure(head plot.Head, title, x, caption string, names []string, by float64, all []phased) figure {
	b := plot.Bars{Head: head, X: x, BesideAt: slices.Index(names, "sync_exposed")}
	for _, name := range names {
		if name == "sync_exposed" {
			name = "exposed communication"
		}
		b.Parts = append(b.Parts, name)
	}
	for _, one := range all {
		bar := plot.Bar{Key: one.key, Label: one.label, Beside: by * one.hidden}
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
	caption += " Exposed communication: the training thread waits for other workers."
	if b.Beside != "" {
		caption += " The outlined bar is communication that computation hid."
	}
	return figure{Title: title, Caption: caption, Chart: b}
}

// phaseFigure stacks the phases of a step.
func (s *section) phaseFigure() figure {
	var all []phased
	for _, v := range s.lines {
		if v.Phases == nil {
			continue
		}
		one := phased{v.key, v.Label, map[string]float64{}, v.Hidden}
		for i, name := range compare.Phases() {
			one.seconds[name] = v.Phases[i]
		}
		all = append(all, one)
	}
	return phaseFigure(s.head("phases", "Phases of a step"), "Where a step goes", "ms per step",
		"Mean over runs, ranks and the steps from the 10th to the 90th percentile.", compare.Phases(), 1e3,
		all)
}
