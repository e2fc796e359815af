package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/internal/spelling"
)

// overlaid is a run of an overlay.
type overlaid struct {
	*compare.Training
	key, name string
	style     plot.Style
	unequal   string // how its work differs from that of the first; "": it does not
}

// rate returns the samples per second of steps that take as long as the median one. That of the whole
// training has its pauses and its first step too, and would not be the batch divided by the step beside it.
// It is the only one where a step of rank 0 is not one of all workers.
func (o *overlaid) rate() float64 {
	if o.MeetsSometimes() && o.SamplesPerSecond > 0 {
		return o.SamplesPerSecond
	}
	if o.StepMS.Median == 0 {
		return unknown
	}
	return 1e3 * float64(o.Batch*max(1, o.Accumulate)) / o.StepMS.Median
}

// String is the letter and the name of the run.
func (o *overlaid) String() string { return o.key + " " + o.name }

// Overlay lays out a report that shows training runs on the same axes, under names: two or more runs and as
// many names.
func Overlay(names []string, runs []*compare.Training) *Report {
	var all []*overlaid
	for i, t := range runs {
		all = append(all, &overlaid{t, key(i), names[i], plot.Style{Colour: i, Number: i},
			differencesText(compare.WorkDifferences(t, runs[0]))})
	}
	p := page{Kind: "runs side by side", Title: named(all), Answer: overlayAnswer(all),
		Lede:   "One run each, on the same axes.",
		Source: "summary.json, steps.jsonl and config.yaml of the run directories"}
	p.note(overlayNotes(all))
	figures := overlayFigures(all)
	if len(figures) > 0 {
		p.Picture, figures = new(figures[0].asLead()), figures[1:]
	}
	caption := "As each run tells them; samples/s are those of steps as long as the median one. Best: of " +
		"all evaluations."
	if text := named(meetSometimes(all)); text != "" {
		caption += fmt.Sprintf(" Workers of %s do not meet in every step: theirs are those of the whole "+
			"training, "+
			"the step is rank 0's.", text)
	}
	p.Sections = []section{{ID: "runs", Title: "The runs", Figures: figures, Tables: []block{
		{Title: inFigures, Caption: caption, Table: overlayTable(all), IsOpen: true}, settingTable(all)}}}
	return &Report{p}
}

// named lists runs.
func named(all []*overlaid) string {
	var names []string
	for _, o := range all {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}

// meetSometimes returns the runs in which a step of rank 0 is not one of all workers.
func meetSometimes(all []*overlaid) (out []*overlaid) {
	for _, o := range all {
		if o.MeetsSometimes() {
			out = append(out, o)
		}
	}
	return out
}

// overlayAnswer relates the steps of runs that did equal work, and says that one run each decides nothing.
func overlayAnswer(all []*overlaid) answer {
	a := answer{Verdict: once, Sign: signOf(once), Why: "One run of each decides nothing: lockstep bench " +
		"repeats and interleaves them."}
	var unequal []string
	for _, o := range all[1:] {
		if o.unequal != "" {
			unequal = append(unequal, fmt.Sprintf("%v (%s)", o, o.unequal))
		}
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(x, y *overlaid) int {
		return cmp.Compare(x.StepMS.Median, y.StepMS.Median)
	})
	best, next := order[0], order[1]
	first, second := digits(best.StepMS.Median, 3), digits(next.StepMS.Median, 3)
	ratio := next.StepMS.Median / best.StepMS.Median
	disturbed, loose := named(disturbedRuns(all)), named(meetSometimes(all))
	switch {
	case unequal != nil:
		a.Verdict = unequalWork
		a.Text = fmt.Sprintf("These did other work than %v: %s.", all[0], strings.Join(unequal, "; "))
		a.Why = "So their times and results are shown side by side and not compared."
	case disturbed != "":
		a.Text = "Equal work, but others took cores from " + disturbed + ", so the steps are not compared."
		a.Why = "Times say how busy the machine was. Run it again when the machine is idle; lockstep bench " +
			"repeats runs and interleaves them."
	case loose != "":
		a.Text = "Equal work, but workers of " + loose + " do not meet in every step, so steps are not " +
			"compared."
		a.Why = "lockstep bench compares such runs by the time of all their samples."
	case !(ratio > 1+compare.LeastDifference):
		a.Text = fmt.Sprintf("Equal work: the median steps of %v, %s ms, and %v, %s ms, are less than %s "+
			"apart.", best, first, next, second, least())
	default:
		a.Text = fmt.Sprintf("Equal work: %v had the shortest median step, %s ms; the next, %v, %s ms "+
			"(%.2f×).", best, first, next, second, ratio)
	}
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

// overlayNotes lists the differences in work, the cautions of each run, and whether results are the same.
func overlayNotes(all []*overlaid) []note {
	var notes []note
	add := func(kind finding.Severity, topic, format string, args ...any) {
		notes = append(notes, noteOf(kind, topic, fmt.Sprintf(format, args...)))
	}
	hashes := map[string]bool{}
	for _, o := range all {
		hashes[o.ParameterSHA256] = true
		if o.unequal != "" {
			add(finding.Refused, "unequal work", "%v did not do the work of %v: %s.", o, all[0], o.unequal)
		}
	}
	var taken []string
	for _, o := range disturbedRuns(all) {
		taken = append(taken, o.String()+": "+TakenText(o.Taken))
	}
	if taken != nil {
		add(finding.Caution, "taken cores", "%s.", strings.Join(taken, "; "))
	}
	for _, o := range all {
		for _, text := range o.Cautions {
			add(finding.Caution, unsorted, "%v: %s", o, text)
		}
	}
	if len(hashes) == 1 && all[0].ParameterSHA256 != "" {
		add(finding.Fact, "parameters", "All runs end with the same parameters, bit for bit (SHA-256 "+
			"%.12s…).", all[0].ParameterSHA256)
	}
	return notes
}

// overlayFigures plot the runs over each other: losses, accuracies, the steps by phase and over time.
func overlayFigures(all []*overlaid) []figure {
	loss := "Mean over the global batch; samples are those of all workers."
	for _, o := range all {
		if o.IsLoose() {
			loss += fmt.Sprintf(" %s: mean of the workers' own losses.", o.key)
		}
	}
	lossAgainst := func(at func(*overlaid) []float64) func(*overlaid) ([]float64, []float64) {
		return func(o *overlaid) ([]float64, []float64) {
			return steady(at(o), o.Joint.Loss, differences(o.Joint.Samples))
		}
	}
	accuracyAgainst := func(at func(record.Evaluation) float64) func(*overlaid) ([]float64, []float64) {
		return func(o *overlaid) (places, values []float64) {
			for _, e := range record.Followed(o.Evaluations) {
				if e.Rank == 0 {
					places, values = append(places, at(e)), append(values, 100*e.Accuracy)
				}
			}
			return places, values
		}
	}
	steps := overlayPlot(all, "time", "Step time", "step", "step time, ms",
		"Of rank 0, means of the steps between "+
			"two points.", func(o *overlaid) (places, values []float64) {
			if len(o.Watched) == 0 {
				return nil, nil
			}
			return o.Watched[0].Step, scaled(o.Watched[0].Seconds, 1e3)
		})
	return drawn(
		overlayPlot(all, "loss-samples", "Loss against samples", "samples", "loss, mean cross entropy", loss,
			lossAgainst(func(o *overlaid) []float64 { return o.Joint.Samples })),
		overlayPlot(all, "loss-seconds", "Loss against seconds", "seconds of training steps",
			"loss, mean cross entropy", loss, lossAgainst(func(o *overlaid) []float64 { return o.Joint.At })),
		overlayPlot(all, "accuracy-seconds", "Accuracy against seconds", "seconds of training", accuracyAxis,
			"On all test samples.", accuracyAgainst(trainSeconds)),
		overlayPhases(all), steps.limited())
}

// overlayPlot plots a quantity of the runs that know it; single points are in the table of the runs.
func overlayPlot(all []*overlaid, id, title, x, y, caption string,
	curve func(*overlaid) (at, values []float64)) figure {
	var series []plot.Series
	isCurve := false
	for _, o := range all {
		at, values := curve(o)
		if slices.ContainsFunc(values, known) {
			series = append(series, plot.Series{Keys: []string{o.key}, Label: o.name, Style: o.style, At: at,
				Values: values})
		}
		isCurve = isCurve || len(values) > 1
	}
	if !isCurve {
		return figure{}
	}
	return curves(plot.Head{ID: id, Title: title}, x, y, caption, series)
}

// overlayPhases stacks the phases of a step of each run, as means over the steps of rank 0.
func overlayPhases(all []*overlaid) figure {
	var runs []phased
	for _, o := range all {
		if len(o.Ranks) == 0 || o.Ranks[0].Steps == 0 {
			continue
		}
		perStep := 1 / float64(o.Ranks[0].Steps)
		one := phased{o.key, o.name, map[string]float64{}, perStep * hiddenSeconds(o.Ranks[0].Buckets)}
		for name, v := range o.Ranks[0].Phases.ByName() {
			one.seconds[name] = perStep * v
		}
		runs = append(runs, one)
	}
	return phaseFigure(plot.Head{ID: "phases", Title: "Phases of a step"}, "Where a step goes", "ms per step",
		"Of rank 0, mean over all steps, without evaluations.", compare.Phases(), 1e3, runs)
}

// overlayTable has a row for each run: what it reached, how fast, then what on.
func overlayTable(all []*overlaid) table {
	percents := func(v float64) string { return fixed(100*v, 2) + " %" }
	return tableOf("Figures of the runs", all,
		cells("run", "", func(o *overlaid) cell {
			return cell{Text: o.key + "  " + o.name, Small: strategyText(o.Training),
				Swatch: o.style.Swatch()}
		}),
		col("accuracy", "final", func(o *overlaid) string {
			if o.TestAccuracy == nil {
				return dash
			}
			return percents(*o.TestAccuracy)
		}),
		cells("accuracy", "best", func(o *overlaid) cell {
			best := cell{Text: dash}
			most := -1.0
			for _, e := range record.Followed(o.Evaluations) {
				if e.Accuracy > most {
					most = e.Accuracy
					best = cell{Text: percents(most), Small: "after " + spelling.Count(e.Steps, "step")}
				}
			}
			return best
		}),
		col("loss", "last", func(o *overlaid) string { return fixed(o.Loss.Last, 4) }),
		cells("step", "ms", func(o *overlaid) cell {
			return cell{Text: digits(o.StepMS.Median, 3), Small: between(o.StepMS.P10, o.StepMS.P90,
				func(v float64) string { return digits(v, 3) })}
		}),
		col("samples/s", "", func(o *overlaid) string { return digits(o.rate(), 3) }),
		col("training", "s", func(o *overlaid) string { return seconds(o.TrainSeconds) }),
		col("steps", "", func(o *overlaid) string { return fmt.Sprint(o.Steps) }),
		col("batch", "", func(o *overlaid) string { return fmt.Sprint(o.Batch) }),
		col("workers", "× threads", func(o *overlaid) string {
			return fmt.Sprintf("%d × %d", o.Workers,
				o.Threads)
		}),
		bytesOf("sent by all", func(o *overlaid) float64 { return float64(o.BytesSent) }),
		bytesOf("memory of all", func(o *overlaid) float64 { return float64(o.PeakRSSBytes) }),
		cells("parameters", "SHA-256", func(o *overlaid) cell { return hashCell(o.ParameterSHA256) }))
}

// settingTable lists the settings in which the runs differ, a column for each run.
func settingTable(all []*overlaid) block {
	var runs []*compare.Training
	for _, o := range all {
		runs = append(runs, o.Training)
	}
	differences := compare.SettingDifferences(runs)
	columns := []column[compare.Difference]{
		col("setting", "", func(d compare.Difference) string { return d.Name })}
	for i, o := range all {
		columns = append(columns, col(o.key, o.name, func(d compare.Difference) string {
			return orDash(fmt.Sprint(d.Values[i]))
		}))
	}
	t := tableOf("Settings that differ", differences, columns...)
	caption := "All other settings are the same."
	if len(differences) == 0 {
		caption = "No setting differs."
	}
	return block{Title: "Settings that differ", Caption: caption, Table: t, IsOpen: true}
}
