package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// overlaid is a run of an overlay.
type overlaid struct {
	*compare.Training
	key, name string
	style     plot.Style
	unequal   string // how its work differs from that of the first; "": it does not
}

// label is the letter and the name of the run, as the first cell of a row.
func (o *overlaid) label() cell { return cell{Text: o.key + "  " + o.name, Swatch: o.style.Swatch()} }

// rate returns the samples per second of steps that take as long as the median one. That of the whole
// training has its pauses and its first step too, and would not be the batch divided by the step beside it.
// It is the only one where a step of rank 0 is not one of all workers.
func (o *overlaid) rate() float64 {
	if o.MeetsSometimes() && o.SamplesPerSecond > 0 {
		return o.SamplesPerSecond
	}
	if o.Growth != nil || o.StepMS.Median == 0 {
		return math.NaN()
	}
	return 1e3 * float64(o.Batch*max(1, o.Accumulate)) / o.StepMS.Median
}

// Overlay lays out a report that shows training runs on the same axes, under names: two or more runs and as
// many names.
func Overlay(names []string, runs []*compare.Training) *Report {
	var all []*overlaid
	for i, t := range runs {
		all = append(all, &overlaid{t, key(i), names[i], plot.Style{Colour: i, Number: i},
			compare.WorkDifference(t, runs[0])})
	}
	p := page{Kind: "runs side by side", Title: overlayTitle(all), Answer: overlayAnswer(all),
		Lede:   "One run each, on the same axes.",
		Source: "summary.json, steps.jsonl and config.yaml of the run directories"}
	p.More = overlayNotes(all)
	p.Notes, p.Cautions = p.More, firstCautions(p.More)
	figures := overlayFigures(all)
	if len(figures) > 0 {
		p.Picture, figures = &figures[0], figures[1:]
	}
	p.Sections = []section{{ID: "runs", Title: "The runs", Figures: figures, Tables: []block{
		{Title: "In figures", Caption: "As each run tells them; samples/s are those of steps as long " +
			"as the median one." + rateNote(all), Table: overlayTable(all), IsOpen: true},
		settingTable(all)}}}
	return &Report{p}
}

// rateNote says which runs tell the samples per second of the whole training.
func rateNote(all []*overlaid) string {
	text := meetSometimes(all)
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" Workers of %s do not meet in every step: theirs are those of the whole training, "+
		"the step is rank 0's.", text)
}

// meetSometimes names the runs in which a step of rank 0 is not one of all workers.
func meetSometimes(all []*overlaid) string {
	var names []string
	for _, o := range all {
		if o.MeetsSometimes() {
			names = append(names, o.key+" "+o.name)
		}
	}
	return strings.Join(names, ", ")
}

// overlayTitle names the runs.
func overlayTitle(all []*overlaid) string {
	var names []string
	for _, o := range all {
		names = append(names, o.key+" "+o.name)
	}
	return strings.Join(names, ", ")
}

// overlayAnswer relates the steps of runs that did equal work, and says that one run each decides nothing.
func overlayAnswer(all []*overlaid) answer {
	a := answer{Verdict: once, Sign: signOf(once), Why: "One run of each decides nothing: lockstep bench " +
		"repeats and interleaves them."}
	var unequal []string
	for _, o := range all[1:] {
		if o.unequal != "" {
			unequal = append(unequal, fmt.Sprintf("%s %s (%s)", o.key, o.name, o.unequal))
		}
	}
	if unequal != nil {
		a.Verdict = unequalWork
		a.Text = fmt.Sprintf("These did other work than %s %s: %s.", all[0].key, all[0].name,
			strings.Join(unequal, "; "))
		a.Why = "So their times and results are shown side by side and not compared."
		return a
	}
	if text := takenFrom(all); text != "" {
		a.Text = "Equal work, but others took cores from " + text + ", so the steps are not compared."
		a.Why = "Times say how busy the machine was. Run it again when the machine is idle; lockstep bench " +
			"repeats runs and interleaves them."
		return a
	}
	if text := meetSometimes(all); text != "" {
		a.Text = "Equal work, but workers of " + text + " do not meet in every step, so steps are not " +
			"compared."
		a.Why = "lockstep bench compares such runs by the time of all their samples."
		return a
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(x, y *overlaid) int {
		return cmp.Compare(x.StepMS.Median, y.StepMS.Median)
	})
	best, next := order[0], order[1]
	if ratio := next.StepMS.Median / best.StepMS.Median; !(ratio > 1+compare.LeastDifference) {
		a.Text = fmt.Sprintf("Equal work: the median steps of %s %s, %s ms, and %s %s, %s ms, are less "+
			"than %s apart.", best.key, best.name, digits(best.StepMS.Median, 3), next.key, next.name,
			digits(next.StepMS.Median, 3), compare.Least())
		return a
	}
	a.Text = fmt.Sprintf("Equal work: %s %s had the shortest median step, %s ms; the next, %s %s, %s ms "+
		"(%.2f×).", best.key, best.name, digits(best.StepMS.Median, 3), next.key, next.name,
		digits(next.StepMS.Median, 3), next.StepMS.Median/best.StepMS.Median)
	return a
}

// disturbedRuns returns the runs that others took cores from, whose times a benchmark would leave out too:
// the run that lost most first.
func disturbedRuns(all []*overlaid) []*overlaid {
	runs := slices.DeleteFunc(slices.Clone(all), func(o *overlaid) bool { return !o.Taken.IsDisturbed() })
	slices.SortStableFunc(runs, func(a, b *overlaid) int {
		return cmp.Compare(b.Taken.Sum(), a.Taken.Sum())
	})
	return runs
}

// takenFrom names the runs that others took cores from.
func takenFrom(all []*overlaid) string {
	var names []string
	for _, o := range disturbedRuns(all) {
		names = append(names, o.key+" "+o.name)
	}
	return strings.Join(names, ", ")
}

// takenTexts says what others took from each run; "" if they took nothing.
func takenTexts(all []*overlaid) string {
	var parts []string
	for _, o := range disturbedRuns(all) {
		parts = append(parts, o.key+" "+o.name+": "+compare.TakenText(o.Taken))
	}
	return strings.Join(parts, "; ")
}

// overlayNotes lists the differences in work, the cautions of each run, and whether results are the same.
func overlayNotes(all []*overlaid) []noteList {
	var notes []compare.Note
	add := func(kind compare.Kind, topic, format string, args ...any) {
		notes = append(notes, compare.Note{Kind: kind, Topic: topic, Text: fmt.Sprintf(format, args...)})
	}
	hashes := map[string]bool{}
	for _, o := range all {
		hashes[o.ParameterSHA256] = true
		if o.unequal != "" {
			add(compare.Refused, "unequal work", "%s %s did not do the work of %s %s: %s.", o.key, o.name,
				all[0].key, all[0].name, o.unequal)
		}
	}
	if text := takenTexts(all); text != "" {
		add(compare.Caution, "taken cores", "%s.", text)
	}
	for _, o := range all {
		for _, text := range o.Cautions {
			add(compare.Caution, "caution", "%s %s: %s", o.key, o.name, text)
		}
	}
	if len(hashes) == 1 && all[0].ParameterSHA256 != "" {
		add(compare.Fact, "parameters", "All runs end with the same parameters, bit for bit (SHA-256 "+
			"%.12s…).", all[0].ParameterSHA256)
	}
	return noteLists(notes)
}

// overlayFigures plot the runs over each other: losses, accuracies, the learning rate, the steps by phase and
// over time, memory.
func overlayFigures(all []*overlaid) []figure {
	step := ofRank0(func(w compare.WatchedRank) []float64 { return w.Step })
	loss := func(o *overlaid) []float64 { return o.Joint.Loss }
	accuracy := evaluated(func(e record.Evaluation) float64 { return 100 * e.Accuracy })
	figures := []figure{
		overlayPlot("loss-samples", "Loss against samples", "samples", "loss, mean cross entropy", all,
			func(o *overlaid) []float64 { return o.Joint.Samples }, loss),
		overlayPlot("loss-seconds", "Loss against seconds", "seconds of training steps",
			"loss, mean cross entropy", all,
			func(o *overlaid) []float64 { return o.Joint.At }, loss),
		overlayPlot("accuracy-seconds", "Accuracy against seconds", "seconds of training",
			"test accuracy, %", all, evaluated(trainSeconds), accuracy),
		overlayPlot("accuracy-steps", "Accuracy against steps", "step", "test accuracy, %", all,
			evaluated(func(e record.Evaluation) float64 { return float64(e.Steps) }), accuracy),
		overlayPhases(all),
		overlayPlot("time", "Step time", "step", "step time, ms", all, step,
			ofRank0(func(w compare.WatchedRank) []float64 { return scaled(w.Seconds, 1e3) })),
		overlayPlot("rate", "Learning rate", "step", "learning rate", all, step,
			ofRank0(func(w compare.WatchedRank) []float64 { return w.Rate })),
		overlayPlot("memory", "Memory of rank 0", "step", "resident, MiB", all, step,
			ofRank0(func(w compare.WatchedRank) []float64 { return scaled(w.Memory, 1./(1<<20)) })),
	}
	figures = slices.DeleteFunc(figures, func(f figure) bool { return f.Chart == nil })
	if len(figures) > 0 {
		if lines, isLines := figures[0].Chart.(plot.Lines); isLines {
			lines.IsLead = true
			figures[0].Chart = lines
		}
	}
	return figures
}

// ofRank0 returns what rank 0 of a run was watched to do; nil if it was not.
func ofRank0(get func(compare.WatchedRank) []float64) func(*overlaid) []float64 {
	return func(o *overlaid) []float64 {
		if len(o.Watched) == 0 {
			return nil
		}
		return get(o.Watched[0])
	}
}

// evaluated returns what the evaluations of a run by rank 0 tell.
func evaluated(get func(record.Evaluation) float64) func(*overlaid) []float64 {
	return func(o *overlaid) (out []float64) {
		for _, e := range record.Followed(o.Evaluations) {
			if e.Rank == 0 {
				out = append(out, get(e))
			}
		}
		return out
	}
}

func scaled(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = by * v
	}
	return out
}

// overlayPlot plots a quantity of the runs that know it; without any there is no chart.
func overlayPlot(id, title, x, y string, all []*overlaid, at, values func(*overlaid) []float64) figure {
	var series []plot.Series
	for _, o := range all {
		s := plot.Series{Keys: []string{o.key}, Label: o.name, Style: o.style, At: at(o), Values: values(o)}
		if slices.ContainsFunc(s.Values, known) {
			series = append(series, s)
		}
	}
	isCurve := func(s plot.Series) bool { return len(s.Values) > 1 }
	if !slices.ContainsFunc(series, isCurve) { // single points are in the table of the runs
		return figure{}
	}
	caption := "Of rank 0, means of the steps between two points."
	hi := top(series)
	switch id {
	case "loss-samples", "loss-seconds":
		caption = lossCaption(all)
	case "accuracy-seconds", "accuracy-steps":
		caption = "On all test samples."
	case "time":
		hi = timeLimit(series)
		caption += " Greater values are drawn on the upper edge."
	}
	p := plot.Lines{Head: plot.Head{ID: id, Title: title, Description: "One curve per run. The values are " +
		"in the table below the plot."}, X: x, Y: y, Series: plot.Merge(series), Hi: hi}
	if len(p.Series) < len(series) {
		caption += " Runs whose values agree bit for bit share a curve."
	}
	points := 0
	for _, s := range series {
		points = max(points, len(s.Values))
	}
	caption = someOf(points, caption)
	return figure{ID: id, Title: title, Caption: caption, Chart: p,
		Legend: legendOf(series), Table: pointsTable(title, x, y, series)}
}

// lossCaption says what the losses of runs are.
func lossCaption(all []*overlaid) string {
	caption := "Mean over the global batch, and over the steps between two points. Samples of all workers."
	for _, o := range all {
		if o.IsLoose() {
			caption += fmt.Sprintf(" %s: mean of the workers' own losses.", o.key)
		}
	}
	return caption
}

// pointsTable has some points of each series, the last among them.
func pointsTable(name, x, y string, all []plot.Series) table {
	t := table{Name: name, Head: []heading{{"run", ""}, {x, ""}, {y, ""}}}
	for _, s := range all {
		n := len(s.Values)
		for i := range min(n, tableRows) {
			at := (i+1)*n/min(n, tableRows) - 1
			t.Rows = append(t.Rows, row{Cells: []cell{{Text: s.Name()}, {Text: placeText(s.At[at])},
				{Text: digits(s.Values[at], 4)}}})
		}
	}
	return t
}

// placeText writes a place on a curve: a number of steps or samples, or a time.
func placeText(at float64) string {
	if at == math.Trunc(at) {
		return trim(at)
	}
	return digits(at, 4)
}

// overlayPhases stacks the phases of a step of each run, as means over the steps of rank 0.
func overlayPhases(all []*overlaid) figure {
	b := plot.Bars{Head: plot.Head{ID: "phases", Title: "Phases of a step", Description: "Stacked bars, " +
		"one per run. The values are in the table below the plot."}, X: "ms per step", BesideAt: 2,
		Beside: "hidden communication"}
	t := table{Name: "Milliseconds per step by phase", Head: []heading{{"run", ""}}}
	f := figure{ID: b.ID, Title: "Where a step goes", Caption: "Of rank 0, mean over all steps, without " +
		"evaluations. The outlined bar beside exposed communication is what computation hid."}
	for _, name := range compare.Phases() {
		b.Parts = append(b.Parts, phaseName(name))
		t.Head = append(t.Head, heading{strings.TrimSuffix(phaseName(name), " communication"), "ms"})
	}
	t.Head = append(t.Head, heading{"hidden", "ms"})
	for _, o := range all {
		if len(o.Ranks) == 0 || o.Ranks[0].Steps == 0 {
			continue
		}
		perStep := 1e3 / float64(o.Ranks[0].Steps)
		hidden, _ := hiddenSeconds(o.Ranks[0].Buckets)
		bar := plot.Bar{Key: o.key, Label: o.name, Beside: perStep * hidden}
		cells := []cell{o.label()}
		for _, name := range compare.Phases() {
			v := perStep * o.Ranks[0].Phases.ByName()[name]
			bar.Values = append(bar.Values, v)
			cells = append(cells, cell{Text: digits(v, 3)})
		}
		b.Rows = append(b.Rows, bar)
		t.Rows = append(t.Rows, row{Cells: append(cells, cell{Text: digits(bar.Beside, 3)})})
	}
	if len(b.Rows) == 0 {
		return figure{}
	}
	f.Chart, f.Table, f.Legend = b, t, boxesOf(b)
	return f
}

// overlayTable has a row for each run.
func overlayTable(all []*overlaid) table {
	t := table{Name: "Figures of the runs", Head: []heading{{"run", ""}, {"workers", "× threads"},
		{"batch", ""}, {"steps", ""}, {"step", "ms"}, {"samples/s", ""}, {"training", "s"}, {"loss", "last"},
		{"accuracy", "test"}, {"sent", "by all"}, {"memory", "of all"}, {"parameters", "SHA-256"}}}
	for _, o := range all {
		accuracy, hash := dash, o.ParameterSHA256
		if o.TestAccuracy != nil {
			accuracy = fmt.Sprintf("%.2f %%", 100**o.TestAccuracy)
		}
		name := o.label()
		name.Small = strategyText(o.Training)
		t.Rows = append(t.Rows, row{Cells: []cell{name, {Text: fmt.Sprintf("%d × %d", o.Workers, o.Threads)},
			{Text: fmt.Sprint(o.Batch)}, {Text: fmt.Sprint(o.Steps)}, {Text: digits(o.StepMS.Median, 3),
				Small: between(o.StepMS.P10, o.StepMS.P90, func(v float64) string { return digits(v, 3) })},
			{Text: digits(o.rate(), 3)}, {Text: seconds(o.TrainSeconds)},
			{Text: fixed(o.Loss.Last, 4)}, {Text: accuracy}, {Text: byteCount(float64(o.BytesSent))},
			{Text: byteCount(float64(o.PeakRSSBytes))},
			{Text: orDash(hash[:min(10, len(hash))]), Code: hash}}})
	}
	return t
}

// settingTable lists the settings in which the runs differ, a column for each run.
func settingTable(all []*overlaid) block {
	var runs []*compare.Training
	t := table{Name: "Settings that differ", Head: []heading{{"setting", ""}}}
	for _, o := range all {
		runs = append(runs, o.Training)
		t.Head = append(t.Head, heading{o.key, o.name})
	}
	differences := compare.SettingDifferences(runs)
	for _, d := range differences {
		r := row{Cells: []cell{{Text: d.Name}}}
		for _, v := range d.Values {
			r.Cells = append(r.Cells, cell{Text: orDash(v)})
		}
		t.Rows = append(t.Rows, r)
	}
	caption := "All other settings are the same."
	if len(differences) == 0 {
		caption = "No setting differs."
	}
	return block{Title: "Settings that differ", Caption: caption, Table: t, IsOpen: true}
}
