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
}

// String is the letter and the name of the run.
func (o *overlaid) String() string { return o.key + " " + o.name }

// Overlay lays out a report that shows training runs on the same axes, under names: two or more runs and as
// many names. It ranks nothing.
func Overlay(names []string, runs []*compare.Training) *Report {
	var all []*overlaid
	var titles, unequal []string
	for i, t := range runs {
		o := &overlaid{t, compare.Key(i), names[i], plot.Style{Colour: i, Number: i}}
		all, titles = append(all, o), append(titles, o.String())
		if text := differencesText(compare.WorkDifferences(t, runs[0])); text != "" {
			unequal = append(unequal, fmt.Sprintf("%v (%s)", o, text))
		}
	}
	a := answer{Text: "Equal work.", Verdict: once, Sign: signOf(once), Why: "One run of each decides " +
		"nothing: lockstep bench repeats and interleaves them."}
	if unequal != nil {
		a.Text = fmt.Sprintf("These did other work than %v: %s.", all[0], strings.Join(unequal, "; "))
	}
	p := page{Kind: "runs side by side", Title: strings.Join(titles, ", "), Answer: a,
		Lede:   "One run each, on the same axes.",
		Source: "summary.json, steps.jsonl and config.yaml of the run directories"}
	p.note(overlayNotes(all))
	p.Sections = []section{{ID: "runs", Title: "The runs", Figures: p.lead(overlayFigures(all)),
		Tables: []block{{Title: inFigures, Caption: "As each run tells them. Best: of all evaluations.",
			Table: overlayTable(all), IsOpen: true}, settingTable(runs, titles)}}}
	return &Report{p}
}

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

// overlayFigures plot the losses and the accuracies of the runs over each other.
func overlayFigures(all []*overlaid) []figure {
	of := func(id, title, x, y, caption string, curve func(*overlaid) (at, values []float64)) figure {
		return against(plot.Head{ID: id, Title: title}, x, y, caption, all, func(o *overlaid) plot.Series {
			at, values := curve(o)
			return plot.Series{Keys: []string{o.key}, Label: o.name, Style: o.style, At: at, Values: values}
		})
	}
	return drawn(
		of("loss", "Loss against samples", "samples", "mean loss", "Mean over the global batch; of workers "+
			"that do not meet in every step, mean of their own losses.",
			func(o *overlaid) (places, values []float64) {
				return steady(o.Joint.Samples, o.Joint.Loss, differences(o.Joint.Samples))
			}),
		of("accuracy", "Accuracy against seconds", "seconds of training", accuracyAxis, onFollowed+".",
			func(o *overlaid) (places, values []float64) {
				for _, e := range record.Followed(o.Evaluations) {
					if e.Rank == 0 {
						places = append(places, e.TrainSeconds)
						values = append(values, 100*float64(e.Accuracy))
					}
				}
				return places, values
			}))
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
		col("training", "s", func(o *overlaid) string { return seconds(o.TrainSeconds) }),
		col("steps", "", func(o *overlaid) string { return fmt.Sprint(o.Steps) }),
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
