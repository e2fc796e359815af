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

// figures returns the figures of a section in the order of the page: how it scales, what it reaches in time
// and by samples, where the time goes, what the workers take and send. Those without data are left out.
func (s *section) figures() []figure {
	all := slices.Concat(s.scalingFigures(), s.lossFigures(), s.accuracyFigures(),
		[]figure{s.phaseFigure(), s.gpuFigure()}, s.usageFigures(), s.shareFigure(), s.bytesFigure(),
		s.checkpointFigure(), []figure{s.timeFigure()})
	return slices.DeleteFunc(all, func(f figure) bool { return f.Chart == nil })
}

// head names a chart of the section.
func (s *section) head(id, title, description string) plot.Head {
	return plot.Head{ID: s.ID + "-" + id, Title: title + ", " + s.Title,
		Description: description + " The values are in the table below the plot."}
}

// stepFigure is the picture of a section: the step time of each row, a dot per run, sorted, with the rows
// that cannot be told apart in one block.
func (s *section) stepFigure() *figure {
	d := plot.Dots{Head: s.head("steps", "Step time of each row", "A row for each configuration, the "+
		"fastest first: a dot for each run, a bar for the interval of the median, a tick for the median."),
		X: "step time, ms"}
	d.IsLead = true
	t := table{Name: "Step time of each row, ms", Head: []heading{{"row", ""}, {"median", "ms"},
		{"interval", "ms"}, {"runs", "ms"}, {"told apart", ""}}}
	for _, g := range s.ranking() {
		group := plot.DotGroup{Title: g.title, IsOne: g.isOne}
		for _, v := range g.lines {
			r, verdict := v.dots(), g.title
			if why := v.group.Unranked(v.Line); why != "" {
				verdict += ": " + why
			}
			group.Rows = append(group.Rows, r)
			t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: millis(v.Step.Median)},
				{Text: orDash(between(r.Lo, r.Hi, func(x float64) string { return digits(x, 3) }))},
				{Text: v.runTexts()}, {Text: verdict}}})
		}
		group.Title += g.because()
		d.Groups = append(d.Groups, group)
	}
	caption := "Rows: strategy, workers × threads of each. Median of each run after its first step: a dot. " +
		"Tick: the row’s median; bar: its interval. On the right the median, and the speed-up over the " +
		"baseline."
	isPaired := func(v *lineView) bool { return len(v.Speedup.Values) > 1 && !v.isBaseline() }
	if slices.ContainsFunc(s.lines, isPaired) {
		caption += " A speed-up is the median of the ratios of the rounds, so it need not be the " +
			"quotient of two medians; rows are in the order of such ratios."
	}
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Measured < v.OK || v.Disturbed }) {
		caption += " Hollow, in the table in parentheses: others took cores from the run."
	}
	if slices.ContainsFunc(d.Groups, func(g plot.DotGroup) bool { return g.Title == notRanked }) {
		caption += " Not ranked are rows of another program or result, of other work or without exchange, " +
			"and those that others took cores from."
	}
	return &figure{ID: d.ID, Title: "Step time", Caption: caption, Chart: d, Table: t}
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
			return ""
		}
	}
	return ": " + first
}

// ranking sorts the lines of a section as its answer does, then those that are not ranked by their steps.
func (s *section) ranking() []ranked {
	a := s.lines[0].group.Answer()
	first := ranked{title: "Fastest", lines: s.views(a.First)}
	slower := ranked{title: "Told apart from the first row: slower", lines: s.views(a.Slower)}
	switch {
	case a.TooFew == 1:
		first.title = "No two rounds in common: not decided"
		if a.IsOneRun {
			first.title = "One run each: not decided"
		}
		first.lines, slower.lines = slices.Concat(first.lines, slower.lines), nil
	case len(a.First) > 1:
		first.title, first.isOne = "Cannot be told apart", true
	case len(a.Slower) == 0:
		first.title = "Alone"
	}
	rest := ranked{title: notRanked}
	for _, v := range s.lines {
		if v.OK > 0 && !slices.Contains(a.First, v.Line) && !slices.Contains(a.Slower, v.Line) {
			rest.lines = append(rest.lines, v)
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

// runTexts lists the steps of the runs, those that do not count in brackets.
func (v *lineView) runTexts() string {
	var all []string
	for _, run := range v.Runs() {
		text := millis(run.Step)
		if !run.IsCounted {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// mostPoints is how many points of a curve over steps are drawn.
const mostPoints = 150

// thinned returns the means of equally many neighbours, at the places of the last ones.
func thinned(at, values []float64) (places, means []float64) {
	every := (len(values) + mostPoints - 1) / mostPoints
	if every <= 1 {
		return at, values
	}
	for i := 0; i < len(values); i += every {
		end := min(i+every, len(values))
		places, means = append(places, at[end-1]), append(means, stat.Mean(values[i:end]))
	}
	return places, means
}

// lossFigures plot the loss against seconds and against samples.
func (s *section) lossFigures() []figure {
	caption := "Mean over the global batch, first counted run of each row."
	for _, way := range strategy.All() {
		isIts := func(v *lineView) bool { return v.Setting.Strategy == way.Name }
		if way.IsLoose() && !way.IsAsync && slices.ContainsFunc(s.lines, isIts) {
			caption += " Strategy " + way.Name + ": mean of the workers' own losses."
		}
	}
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.Repeats > 0 }) {
		caption += " Curves of another program end where it trains on its first batches again."
	}
	if s.longest() > mostPoints {
		caption += " Drawn as means of neighbouring steps."
	}
	var figures []figure
	for _, by := range []struct {
		id, x, more string
		at          func(*lineView) []float64
	}{
		{"loss-seconds", "seconds of training steps", "",
			func(v *lineView) []float64 { return v.LossSeconds }},
		{"loss", "samples", fmt.Sprintf(" One iteration is a batch of %d.", s.lines[0].Setting.Batch),
			func(v *lineView) []float64 { return v.LossSamples }},
	} {
		var all []plot.Series
		for _, v := range s.lines {
			if loss := v.SharedLoss(); len(loss) > 0 {
				one := plot.Series{Keys: []string{v.key}, Label: v.Label, Style: v.style}
				one.At, one.Values = thinned(by.at(v)[:len(loss)], loss)
				all = append(all, one)
			}
		}
		p := plot.Lines{Head: s.head(by.id, "Loss against "+by.x, "One curve per row."), X: by.x,
			Y: "loss, mean over the global batch", Series: plot.Merge(all), Hi: top(all)}
		f := figure{ID: p.ID, Title: "Loss against " + by.x, Caption: caption + by.more, Chart: p,
			Legend: s.legend(), Table: s.valueTable("Loss by iteration",
				func(v *lineView) []float64 { return v.SharedLoss() },
				func(x float64) string { return fixed(x, 4) })}
		if len(p.Series) < len(all) {
			f.Caption += " Rows whose losses agree bit for bit share a curve."
		}
		if len(all) > 0 {
			figures = append(figures, f)
		}
	}
	return figures
}

// longest returns the number of steps of the row with most.
func (s *section) longest() int {
	n := 0
	for _, v := range s.lines {
		n = max(n, len(v.Loss))
	}
	return n
}

func (s *section) timeFigure() figure {
	ms := func(v *lineView) []float64 {
		out := make([]float64, len(v.Times))
		for i, t := range v.Times {
			out[i] = 1e3 * t
		}
		return out
	}
	var all []plot.Series
	for _, v := range s.lines {
		if len(v.Times) > 0 {
			all = append(all, plot.Series{Keys: []string{v.key}, Label: v.Label, Style: v.style,
				Values: ms(v)})
		}
	}
	top := timeLimit(all)
	above := 0
	for _, one := range all {
		for _, v := range one.Values {
			if v > top {
				above++
			}
		}
	}
	caption := "Slowest rank of each step, median over the runs."
	if reach := smoothing(all); reach > 0 {
		all = smooth(all, reach)
		caption += fmt.Sprintf(" Bold: running median of %d steps; faint: every step.", 2*reach+1)
	}
	if above == 1 {
		caption += " One value lies near or above the upper edge; what is above is drawn on it."
	} else if above > 1 {
		caption += fmt.Sprintf(" %d values lie near or above the upper edge; what is above is drawn on it.",
			above)
	}
	p := plot.Lines{Head: s.head("time", "Step time against iteration", "One curve per row."),
		X: "iteration", Y: "step time, ms", Series: all, Hi: top}
	return figure{ID: p.ID, Title: "Step time against iteration", Caption: caption, Chart: p,
		Legend: s.legend(), Table: s.valueTable("Step time in ms by iteration", ms,
			func(v float64) string { return digits(v, 3) })}
}

// timeLimit returns the upper end of a plot of step times: one slow step must not press all
// curves to the floor.
func timeLimit(all []plot.Series) float64 {
	var timed, first []float64
	for _, one := range all {
		timed = append(timed, one.Values[min(1, len(one.Values)):]...)
		first = append(first, one.Values[:min(1, len(one.Values))]...)
	}
	if len(timed) == 0 {
		return stat.Quantile(first, 1)
	}
	return math.Min(stat.Quantile(timed, 1), 1.5*stat.Quantile(timed, 0.98))
}

// smoothing returns the reach of the running median that keeps the noise of many steps from
// hiding the rows behind one another; 0 where there are few steps.
func smoothing(all []plot.Series) int {
	longest := 0
	for _, one := range all {
		longest = max(longest, len(one.Values))
	}
	if longest <= 60 {
		return 0
	}
	return max(2, longest/50)
}

// smooth returns series of running medians with the values behind them. The first step stands
// out for good reason and is left out of the medians.
func smooth(all []plot.Series, reach int) []plot.Series {
	out := slices.Clone(all)
	for i := range out {
		s := &out[i]
		s.Raw = s.Values
		s.Values = slices.Concat([]float64{math.NaN()}, stat.RunningMedian(s.Raw[1:], reach))
	}
	return out
}

// phaseFigure stacks the phases of a step, with the exchange that computation hid beside the exposed one.
func (s *section) phaseFigure() figure {
	b := plot.Bars{Head: s.head("phases", "Phases of a step", "Stacked bars, one per row: forward, "+
		"backward, exposed communication, optimizer, data, other."), X: "ms per step",
		BesideAt: slices.Index(compare.Phases(), "sync_exposed")}
	t := table{Name: "Milliseconds per step by phase", Head: []heading{{"row", ""}}}
	for _, name := range compare.Phases() {
		b.Parts = append(b.Parts, phaseName(name))
		t.Head = append(t.Head, heading{strings.TrimSuffix(phaseName(name), " communication"), "ms"})
	}
	t.Head = append(t.Head, heading{"sum", "ms"})
	caption := "Mean over runs, ranks and the steps from the 10th to the 90th percentile. Exposed " +
		"communication is the time the training thread waits for other workers."
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.OK > 0 && known(v.Hidden) }) {
		b.Beside = "hidden communication"
		t.Head = append(t.Head, heading{"hidden", "ms"})
		caption += " The outlined bar beside it is communication that computation hid, mean of all steps."
	}
	for _, v := range s.lines {
		if v.Phases == nil {
			continue
		}
		r := plot.Bar{Key: v.key, Label: v.Label, Beside: 1e3 * v.Hidden}
		cells := []cell{v.name()}
		for _, sec := range v.Phases {
			r.Values = append(r.Values, 1e3*sec)
			cells = append(cells, cell{Text: millis(sec)})
		}
		cells = append(cells, cell{Text: digits(r.Total(), 3)})
		if b.Beside != "" {
			cells = append(cells, cell{Text: millis(v.Hidden)})
		}
		b.Rows = append(b.Rows, r)
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	if len(b.Rows) == 0 {
		return figure{}
	}
	return figure{ID: b.ID, Title: "Where a step goes", Caption: caption, Chart: b, Legend: boxesOf(b),
		Table: t}
}

// boxesOf is the legend of the parts of bars.
func boxesOf(b plot.Bars) (out []legend) {
	for i, name := range b.Parts {
		out = append(out, legend{Sample: plot.Box(i), Name: name})
	}
	return out
}

// phaseName is the phase as written for people.
func phaseName(phase string) string {
	if phase == "sync_exposed" {
		return "exposed communication"
	}
	return phase
}

func (s *section) legend() []legend {
	var out []legend
	for _, v := range s.lines {
		if v.OK > 0 {
			out = append(out, legend{Sample: plot.Curve(v.style), Key: v.key, Name: v.Label})
		}
	}
	return out
}

// every is the distance of the iterations that tables show.
const every = 20

// iterations chooses the columns of a table over n iterations: the first, every 20th (every 5th of
// a short run) and the last; a long run is thinned to at most most, still multiples of 20.
func iterations(n, most int) []int {
	step := every
	if n < 2*every {
		step = 5
	}
	for n/step > most-2 {
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

// valueTable shows values by iteration at some of them, one row per line, so that the values of two lines
// stand below each other.
func (s *section) valueTable(name string, values func(*lineView) []float64,
	format func(float64) string) table {
	t := table{Name: name, Head: []heading{{"row", "iteration"}}}
	steps := 0
	for _, v := range s.lines {
		steps = max(steps, len(values(v)))
	}
	if steps == 0 {
		return t
	}
	const columns = 7 // beside the names, in half a page
	shown := iterations(steps, columns)
	for _, i := range shown {
		t.Head = append(t.Head, heading{fmt.Sprint(i), ""})
	}
	for _, v := range s.lines {
		list := values(v)
		if len(list) == 0 {
			continue
		}
		r := row{Cells: []cell{v.name()}}
		for _, i := range shown {
			text := dash
			if i <= len(list) {
				text = format(list[i-1])
			}
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// rankTable shows the global loss beside the own loss of every rank at chosen iterations, one row
// per line and iteration.
func (s *section) rankTable() (t table, caption string) {
	const most = 14 // iterations
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
		for _, i := range iterations(steps, most) {
			if i <= len(v.SharedLoss()) {
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
	if !strategy.Named(v.Setting.Strategy).IsFloor {
		global = fixed(v.Loss[i-1], 4)
	}
	r := row{Cells: []cell{v.name(), {Text: fmt.Sprint(i)}, {Text: global}}}
	for rank := range ranks {
		own := dash
		if rank < len(v.Ranks) && i <= len(v.Ranks[rank].OwnLoss) {
			own = fixed(v.Ranks[rank].OwnLoss[i-1], 4)
		}
		r.Cells = append(r.Cells, cell{Text: own})
	}
	return r
}
