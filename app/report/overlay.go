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

// String is the letter and the name of the run.
func (o *overlaid) String() string { return o.key + " " + o.name }

// doubt says why the step of the run is not compared; "" if it is.
func (o *overlaid) doubt() string {
	switch {
	case o.Taken.IsDisturbed():
		return "others took cores"
	case o.MeetsSometimes():
		return "its workers do not meet in every step"
	}
	return ""
}

// Overlay lays out a report that shows training runs on the same axes, under names: two or more runs and as
// many names.
func Overlay(names []string, runs []*compare.Training) *Report {
	var all []*overlaid
	var titles []string
	for i, t := range runs {
		o := &overlaid{t, key(i), names[i], plot.Style{Colour: i, Number: i},
			differencesText(compare.WorkDifferences(t, runs[0]))}
		all, titles = append(all, o), append(titles, o.String())
	}
	p := page{Kind: "runs side by side", Title: strings.Join(titles, ", "), Answer: overlayAnswer(all),
		Lede:   "One run each, on the same axes.",
		Source: "summary.json, steps.jsonl and config.yaml of the run directories"}
	p.note(overlayNotes(all))
	caption := "As each run tells them; samples/s are those of steps as long as the median one. Best: of " +
		"all evaluations."
	p.Sections = []section{{ID: "runs", Title: "The runs", Figures: p.lead(overlayFigures(all)),
		Tables: []block{{Title: inFigures, Caption: caption, Table: overlayTable(all), IsOpen: true},
			settingTable(runs, titles)}}}
	return &Report{p}
}

// overlayAnswer relates the steps of runs that did equal work, and says that one run each decides nothing.
func overlayAnswer(all []*overlaid) answer {
	a := answer{Verdict: once, Sign: signOf(once), Why: "One run of each decides nothing: lockstep bench " +
		"repeats and interleaves them."}
	var unequal, doubts []string
	for _, o := range all {
		if o.unequal != "" {
			unequal = append(unequal, fmt.Sprintf("%v (%s)", o, o.unequal))
		}
		if text := o.doubt(); text != "" {
			doubts = append(doubts, fmt.Sprintf("%v (%s)", o, text))
		}
	}
	order := slices.SortedStableFunc(slices.Values(all), func(x, y *overlaid) int {
		return cmp.Compare(x.StepMS.Median, y.StepMS.Median)
	})
	best, next := order[0], order[1]
	first, second := digits(best.StepMS.Median, 3), digits(next.StepMS.Median, 3)
	ratio := next.StepMS.Median / best.StepMS.Median
	switch {
	case unequal != nil:
		a.Verdict = unequalWork
		a.Text = fmt.Sprintf("These did other work than %v: %s.", all[0], strings.Join(unequal, "; "))
		a.Why = "So their times and results are shown side by side and not compared."
	case doubts != nil:
		a.Text = fmt.Sprintf("Equal work, but steps are not compared: %s.", strings.Join(doubts, ", "))
	case !(ratio > 1+leastApart):
		a.Text = fmt.Sprintf("Equal work: the median steps of %v, %s ms, and %v, %s ms, are less than %g %% "+
			"apart.", best, first, next, second, 100*leastApart)
	default:
		a.Text = fmt.Sprintf("Equal work: %v had the shortest median step, %s ms; the next, %v, %s ms "+
			"(%.2f×).", best, first, next, second, ratio)
	}
	return a
}

// leastApart is the relative difference that two runs of one machine may well have.
const leastApart = 0.02

// overlayNotes lists the cautions of each run, and whether results are the same.
func overlayNotes(all []*overlaid) []note {
	var notes []note
	hashes := map[string]bool{}
	for _, o := range all {
		hashes[o.ParameterSHA256] = true
		for _, n := range trainingNotes(o.Training) {
			notes = append(notes, noteOf(n.Kind, n.Topic, fmt.Sprintf("%v: %s", o, n.Text)))
		}
	}
	if len(hashes) == 1 && all[0].ParameterSHA256 != "" {
		notes = append(notes, noteOf(finding.Fact, "parameters", fmt.Sprintf("All runs end with the same "+
			"parameters, bit for bit (SHA-256 %.12s…).", all[0].ParameterSHA256)))
	}
	return notes
}

// overlayFigures plot the runs over each other: losses, accuracies, the steps by phase and over time.
func overlayFigures(all []*overlaid) []figure {
	of := func(id, title, x, y, caption string, curve func(*overlaid) (at, values []float64)) figure {
		return against(plot.Head{ID: id, Title: title}, x, y, caption, all, func(o *overlaid) plot.Series {
			at, values := curve(o)
			return plot.Series{Keys: []string{o.key}, Label: o.name, Style: o.style, At: at, Values: values}
		})
	}
	loss := func(id, x string, at func(*overlaid) []float64) figure {
		return of(id, "Loss against "+x, x, "mean loss", "Mean over the global batch; of "+
			"workers that do not meet in every step, mean of their own losses.",
			func(o *overlaid) (places, values []float64) {
				return steady(at(o), o.Joint.Loss, differences(o.Joint.Samples))
			})
	}
	return drawn(
		loss("loss-samples", "samples", func(o *overlaid) []float64 { return o.Joint.Samples }),
		loss("loss-seconds", "seconds of training steps", func(o *overlaid) []float64 { return o.Joint.At }),
		of("accuracy-seconds", "Accuracy against seconds", "seconds of training", accuracyAxis,
			onFollowed+".", func(o *overlaid) (places, values []float64) {
				for _, e := range record.Followed(o.Evaluations) {
					if e.Rank == 0 {
						places = append(places, e.TrainSeconds)
						values = append(values, 100*float64(e.Accuracy))
					}
				}
				return places, values
			}),
		overlayPhases(all),
		of("time", "Step time", "step", "step time, ms", "Of rank 0, means of the steps between two points.",
			func(o *overlaid) (places, values []float64) {
				if len(o.Watched) == 0 {
					return nil, nil
				}
				return o.Watched[0].Step, scaled(o.Watched[0].Seconds, 1e3)
			}).limited())
}

// overlayPhases stacks the phases of a step of each run, as means over the steps of rank 0.
func overlayPhases(all []*overlaid) figure {
	var runs []phased
	for _, o := range all {
		if len(o.Ranks) == 0 || o.Ranks[0].Steps == 0 {
			continue
		}
		one := rankPhase(o.String(), o.Training, 0)
		one.hidden /= float64(o.Ranks[0].Steps)
		for name := range one.seconds {
			one.seconds[name] /= float64(o.Ranks[0].Steps)
		}
		runs = append(runs, one)
	}
	return phaseFigure(plot.Head{ID: "phases", Title: "Where a step goes"}, "ms per step",
		"Of rank 0, mean over all steps, without evaluations.", compare.Phases(), 1e3, runs)
}

// rate returns the samples per second of steps that take as long as the median one. That of the whole
// training has its pauses and its first step too, and would not be the batch divided by the step beside it.
// It is the only one where a step of rank 0 is not one of all workers.
func (o *overlaid) rate() float64 {
	switch {
	case o.MeetsSometimes():
		return o.SamplesPerSecond
	case o.StepMS.Median == 0:
		return unknown
	}
	return 1e3 * float64(o.Batch*max(1, o.Accumulate)) / o.StepMS.Median
}

// overlayTable has a row for each run: what it reached, how fast, then what on.
func overlayTable(all []*overlaid) table {
	return tableOf("Figures of the runs", all,
		cells("run", "", func(o *overlaid) cell {
			return cell{Text: o.key + "  " + o.name, Small: strategyText(o.Training),
				Swatch: o.style.Swatch()}
		}),
		col("accuracy", "final", func(o *overlaid) string {
			if o.TestAccuracy == nil {
				return dash
			}
			return percent(*o.TestAccuracy)
		}),
		cells("accuracy", "best", func(o *overlaid) cell {
			all := record.Followed(o.Evaluations)
			if len(all) == 0 {
				return cell{Text: dash}
			}
			best := slices.MaxFunc(all, func(a, b record.Evaluation) int {
				return cmp.Compare(a.Accuracy, b.Accuracy)
			})
			return cell{Text: percent(float64(best.Accuracy)), Small: "after " + spelling.Count(best.Steps,
				"step")}
		}),
		col("metrics", "final", func(o *overlaid) string { return record.Final(o.Evaluations).Told() }),
		col("loss", "last", func(o *overlaid) string { return fixed(o.Loss.Last, 4) }),
		cells("step", "ms", func(o *overlaid) cell {
			three := func(v float64) string { return digits(v, 3) }
			return cell{Text: three(o.StepMS.Median), Small: between(o.StepMS.P10, o.StepMS.P90, three)}
		}),
		col("samples/s", "", func(o *overlaid) string { return digits(o.rate(), 3) }),
		col("training", "s", func(o *overlaid) string { return seconds(o.TrainSeconds) }),
		col("steps", "", func(o *overlaid) string { return fmt.Sprint(o.Steps) }),
		col("batch", "", func(o *overlaid) string { return fmt.Sprint(o.Batch) }),
		col("workers", "× threads", func(o *overlaid) string {
			return fmt.Sprintf("%d × %d", o.Workers, o.Threads)
		}),
		bytesOf("sent by all", func(o *overlaid) float64 { return float64(o.BytesSent) }),
		bytesOf("memory of all", func(o *overlaid) float64 { return float64(o.PeakRSSBytes) }),
		cells("parameters", "SHA-256", func(o *overlaid) cell { return hashCell(o.ParameterSHA256) }))
}

// settingTable lists the settings in which runs differ, a column for each run.
func settingTable(runs []*compare.Training, names []string) block {
	differences := compare.SettingDifferences(runs)
	columns := []column[compare.Difference]{
		col("setting", "", func(d compare.Difference) string { return d.Name })}
	for i, name := range names {
		columns = append(columns, col(name, "", func(d compare.Difference) string {
			return orDash(fmt.Sprint(d.Values[i]))
		}))
	}
	caption := "All other settings are the same."
	if len(differences) == 0 {
		caption = "No setting differs."
	}
	return block{Title: "Settings that differ", Caption: caption, IsOpen: true,
		Table: tableOf("Settings that differ", differences, columns...)}
}
