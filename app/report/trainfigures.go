package report

import (
	"fmt"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// quantity is something that was watched at every step of a worker.
type quantity struct {
	id, title, label, caption string
	values                    func(compare.WatchedRank) []float64
	scale                     float64
}

// quantities are those in which ranks may differ, the last two of them those of the network.
func quantities() []quantity {
	return []quantity{
		{"time", "Step time", "step time, ms", "Mean over the steps between two points.",
			func(w compare.WatchedRank) []float64 { return w.Seconds }, 1e3},
		{"cpu", "Processors in use", "cores", "Processor time of each worker's process over the time in " +
			"which it was taken, a tenth of a second or more, without evaluations.",
			func(w compare.WatchedRank) []float64 { return w.Cores }, 1},
		{"memory", "Memory", "resident, MB", "Largest of the steps between two points.",
			func(w compare.WatchedRank) []float64 { return w.Memory }, 1e-6},
		{"sent", "Network, sent", "MB/s", "Bytes that each worker sent, without evaluations.",
			func(w compare.WatchedRank) []float64 { return w.Sent }, 1e-6},
		{"received", "Network, received", "MB/s", "Bytes that each worker received, without evaluations.",
			func(w compare.WatchedRank) []float64 { return w.Received }, 1e-6},
	}
}

// figure plots the quantity of all ranks against the step.
func (q quantity) figure(ranks []compare.WatchedRank) figure {
	var all []plot.Series
	for rank, w := range ranks {
		at, values := w.Step, q.values(w)
		if q.id != "memory" {
			at, values = steady(at, values, differences(w.Samples))
		}
		all = append(all, rankSeries(rank, at, scaled(values, q.scale)))
	}
	f := curves(plot.Head{ID: q.id, Title: q.title + " against step"}, "step", q.label, q.caption, all)
	if q.id == "time" {
		return f.limited()
	}
	return f
}

// rankSeries is a curve of a rank.
func rankSeries(rank int, at, values []float64) plot.Series {
	return plot.Series{Keys: []string{fmt.Sprint(rank)}, Label: fmt.Sprintf("rank %d", rank),
		Style: plot.Style{Colour: rank, Number: rank}, At: at, Values: values}
}

// trainingFigures are the figures of a run in the order of the page: losses, accuracy, where the time goes,
// then what each worker took. Those without data are left out; the first is the picture of the page.
func trainingFigures(t *compare.Training) []figure {
	all := []figure{lossCurves(t), accuracyFigure(t), confusionFigure(t.Scores), rankPhases(t),
		lanesFigure(t)}
	watched := quantities()
	if t.Workers == 1 { // which has no network
		watched = watched[:len(watched)-2]
	}
	for _, q := range watched {
		all = append(all, q.figure(t.Watched))
	}
	return drawn(all...)
}

// lossCurves plots the loss of training and that of the samples that were evaluated during it over the
// steps. Where workers do not meet in every step, each has its own.
func lossCurves(t *compare.Training) figure {
	const mostRanks = 8 // whose curves an eye tells apart
	caption := "Training: mean over the global batch; of many steps, means of neighbours."
	all := []plot.Series{{Keys: []string{"t"}, Label: "training"}}
	all[0].At, all[0].Values = steady(t.Joint.Step, t.Joint.Loss, differences(t.Joint.Samples))
	if t.IsLoose() {
		caption = "Training: the workers' own losses."
		if len(t.Watched) <= mostRanks {
			all = nil
			for rank, w := range t.Watched {
				at, loss := steady(w.Step, w.Loss, differences(w.Samples))
				all = append(all, rankSeries(rank, at, loss))
			}
		}
	}
	followed := record.Followed(t.Evaluations)
	scored := byRank(followed, func(e record.Evaluation) float64 { return float64(e.Steps) },
		func(e record.Evaluation) float64 { return float64(e.Loss) })
	for i, s := range scored {
		if len(scored) == 1 {
			s.Keys = []string{"v"}
		}
		s.Label = joined(", ", record.Final(followed).Of()+" samples", s.Label)
		s.Style = plot.Style{Colour: 1 + i%(plot.NumColours-1), Number: len(all) + i}
		all = append(all, s)
	}
	return curves(plot.Head{ID: "loss", Title: "Loss"}, "step", "mean loss", caption, all)
}

// byRank returns a series for each rank that told of evaluations; one alone has no name.
func byRank(evaluations []record.Evaluation, at, value func(record.Evaluation) float64) []plot.Series {
	var all []plot.Series
	for _, e := range evaluations {
		key := fmt.Sprint(e.Rank)
		i := slices.IndexFunc(all, func(s plot.Series) bool { return s.Keys[0] == key })
		if i < 0 {
			i = len(all)
			all = append(all, rankSeries(e.Rank, nil, nil))
		}
		addPoint(&all[i], at(e), value(e))
	}
	if len(all) == 1 {
		all[0].Keys, all[0].Label = nil, ""
	}
	return all
}

// accuracyFigure plots the accuracy, if a rank was evaluated several times.
func accuracyFigure(t *compare.Training) figure {
	followed := record.Followed(t.Evaluations)
	part := record.Final(followed).Of()
	title, axis := "Accuracy", part+" accuracy, %"
	if name, _, _ := record.Final(followed).Figure(); name != "accuracy" {
		title, axis = name, part+" "+name
	}
	return curves(plot.Head{ID: "accuracy", Title: title + " against seconds of training"},
		"seconds of training", axis,
		"On all "+part+" samples. Evaluations take no part in the time.",
		byRank(followed, func(e record.Evaluation) float64 { return e.TrainSeconds },
			func(e record.Evaluation) float64 {
				_, value, _ := e.Figure()
				return value
			}))
}

// evaluationTable has a row for each evaluation.
func evaluationTable(evaluations []record.Evaluation) block {
	type eval = record.Evaluation
	positive := func(v float64) string {
		if v > 0 {
			return digits(v, 3)
		}
		return dash
	}
	return block{Title: "Evaluations", Caption: "On all samples of a part, by the weights after so many " +
		"epochs. Rank 0 stands for all ranks that exchange gradients.", IsOpen: true,
		Table: tableOf("Evaluations", evaluations,
			col("epoch", "", func(e eval) string { return fmt.Sprintf("%.4g", e.Epochs) }),
			col("rank", "", func(e eval) string { return fmt.Sprint(e.Rank) }),
			col("part", "", func(e eval) string { return e.Of() }),
			col("loss", "", func(e eval) string { return fixed(float64(e.Loss), 4) }),
			col("accuracy", "%", func(e eval) string { return fixed(100*float64(e.Accuracy), 2) }),
			col("metrics", "", eval.Told),
			col("learning rate", "", func(e eval) string {
				if e.Steps == 0 {
					return dash
				}
				return positive(e.Rate)
			}),
			col("training", "s", func(e eval) string { return seconds(e.TrainSeconds) }),
			col("wall time", "s", func(e eval) string { return positive(e.WallSeconds) }))}
}

// rankPhases stacks the seconds of each rank by phase.
func rankPhases(t *compare.Training) figure {
	var all []phased
	for i, r := range t.Ranks {
		all = append(all, rankPhase(fmt.Sprintf("rank %d", r.Rank), t, i))
	}
	return phaseFigure(plot.Head{ID: "phases", Title: "Where the time goes"}, "seconds",
		"Wall time of the training thread of each rank.", append(compare.Phases(), "evaluation"), 1, all)
}

// rankPhase is the seconds of a rank by phase. What computation hid is known if all its buckets tell.
func rankPhase(name string, t *compare.Training, rank int) phased {
	one, r := phased{name, t.Spent(rank), unknown}, t.Ranks[rank]
	if len(r.Buckets) > 0 {
		one.hidden = 0
	}
	for _, b := range r.Buckets {
		if b.Hidden == nil {
			one.hidden = unknown
		} else {
			one.hidden += b.Hidden.Seconds
		}
	}
	return one
}
