package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// head names a figure of the section.
func (s *section) head(id, title string) plot.Head {
	return plot.Head{ID: s.ID + "-" + id, Title: title}
}

// shapeText explains the shape in the labels of rows by the last one: "2×1: 2 workers of 1 thread each."
func shapeText(lines []*lineView) string {
	s := lines[len(lines)-1].Setting
	return fmt.Sprintf("%s: %s of %s each.", s.Shape(), spelling.Count(s.Workers, "worker"),
		spelling.Count(s.Threads, "thread"))
}

// stepFigure is the picture of a section: the step time of each row, a dot per run, sorted, with the rows
// that cannot be told apart in one block.
func (s *section) stepFigure() *figure {
	caption := "A dot: the median step of a run. Tick: the row’s median; bar: its interval. On the right " +
		"the median, and the speed-up over the baseline, round by round. The letter names the row below. " +
		shapeText(s.lines)
	d := plot.Dots{X: "step time, ms"}
	for _, g := range s.ranking() {
		group := plot.DotGroup{Title: g.title, IsOne: g.isOne}
		for _, v := range g.lines {
			group.Rows = append(group.Rows, v.dots())
		}
		if d.Groups = append(d.Groups, group); g.title == notRanked {
			caption += " Not ranked: another program, result or work, checkpoints, no exchange, or cores " +
				"taken by others."
		}
	}
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Measured < v.OK || v.Disturbed }) {
		caption += " Hollow, in the table in parentheses: others took cores from the run."
	}
	f := figure{s.head("steps", "Step time"), caption, d}
	f.IsLead = true
	return &f
}

// notRanked is the heading of rows that the answer leaves out.
const notRanked = "Not ranked"

// ranked is a block of the picture.
type ranked struct {
	title string
	isOne bool
	lines []*lineView
}

// ranking sorts the lines of a section as its answer does, then those that are not ranked by their steps.
func (s *section) ranking() []ranked {
	v := s.lines[0].group.Verdict()
	told := slices.DeleteFunc(slices.Clone(v.Ranked),
		func(l *compare.Line) bool { return slices.Contains(v.Tied, l) })
	first := ranked{title: "Fastest", lines: s.views(v.Tied)}
	slower := ranked{title: "Told apart from the first row: slower", lines: s.views(told)}
	switch {
	case len(v.Tied) > 1:
		first.title, first.isOne = capital(agreeText(v.IsUnanimous, v.Rounds)), true
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
	r := plot.DotRow{Name: v.name(), Style: v.style, Middle: 1e3 * v.Step.Median, Lo: 1e3 * in.Lo,
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

// lossFigure plots the loss against samples.
func (s *section) lossFigure() figure {
	caption := "Mean over the global batch, first run of each row."
	if slices.ContainsFunc(s.lines, func(v *lineView) bool {
		way := strategy.Named(v.Setting.Strategy)
		return way.IsLoose() && !way.IsAsync
	}) {
		caption += " Of workers that do not meet in every step: mean of their own losses."
	}
	return against(s.head("loss", "Loss against samples"), "samples", "loss", caption, s.lines,
		func(v *lineView) plot.Series {
			at := v.LossSamples[:len(v.SharedLoss())]
			return v.series(steady(at, v.SharedLoss(), differences(at)))
		})
}

// accuracyFigures plots the accuracy of the rows that were evaluated more than once, against seconds of
// training and against samples.
func (s *section) accuracyFigures() []figure {
	const caption = onFollowed + "; the time is without evaluations. Of several seeds a line is the mean, " +
		"a band reaches from the lowest to the highest."
	of := func(id, x string, at func(compare.Evaluated) float64) figure {
		return against(s.head(id, "Accuracy against "+x), x, accuracyAxis, caption, s.lines,
			func(v *lineView) plot.Series {
				one := v.series(nil, nil)
				if strategy.Named(v.Setting.Strategy).IsFloor {
					return one
				}
				for _, e := range v.Accuracy.Curve {
					addPoint(&one, at(e), 100*e.Mean)
					if v.Seeds > 1 {
						one.Lo, one.Hi = append(one.Lo, 100*e.Lo), append(one.Hi, 100*e.Hi)
					}
				}
				return one
			})
	}
	return []figure{of("accuracy-seconds", "seconds of training", func(e compare.Evaluated) float64 {
		return e.Seconds
	}), of("accuracy-samples", "samples", func(e compare.Evaluated) float64 { return e.Samples })}
}

const accuracyAxis = "accuracy, %"

// onFollowed says on which samples curves of accuracy are: those of validation, if a run has them.
const onFollowed = "On all samples of the part that was evaluated during training"

// timeFigure plots the step time of each row against the iteration.
func (s *section) timeFigure() figure {
	return against(s.head("time", "Step time against iteration"), "iteration", "step time, ms",
		"Slowest rank of each step that ranks share, median over the runs; of many steps, means of "+
			"neighbours.", s.lines,
		func(v *lineView) plot.Series {
			var at []float64
			for i := range v.Times {
				at = append(at, float64(v.step(i)))
			}
			return v.series(steady(at, scaled(v.Times, 1e3), nil))
		}).limited()
}

// phaseFigure stacks the phases of a step.
func (s *section) phaseFigure() figure {
	var all []phased
	for _, v := range s.lines {
		one := phased{v.name(), map[string]float64{}, v.Hidden}
		for i, seconds := range v.Phases {
			one.seconds[compare.Phases()[i]] = seconds
		}
		all = append(all, one)
	}
	return phaseFigure(s.head("phases", "Where a step goes"), "ms per step",
		"The median step of each row, divided as the mean of the steps from the 10th to the 90th percentile "+
			"is. Rows whose workers share no step are left out.", compare.Phases(), 1e3, all)
}
