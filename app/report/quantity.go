package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

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

// rankQuantities are those in which ranks differ, and the last two of them those of the network.
func rankQuantities() []quantity {
	return []quantity{
		{"time", "Step time", "step time, ms", "Mean over the steps between two points.",
			func(w compare.WatchedRank) []float64 { return w.Seconds }, 1e3},
		{"cpu", "Processors in use", "cores",
			"Processor time of each worker's process over the time in which it was taken, a tenth of a " +
				"second or more. Evaluations are left out of both.",
			func(w compare.WatchedRank) []float64 { return w.Cores }, 1},
		{"memory", "Memory", "resident, MiB",
			"Largest of the steps between two points, for each worker's process.",
			func(w compare.WatchedRank) []float64 { return w.Memory }, 1. / (1 << 20)},
		{"gpu", "Memory of the GPU", "in use, MiB",
			"Largest of the steps between two points, on each worker's GPU, by all processes that use it; " +
				"asked for once a second.",
			func(w compare.WatchedRank) []float64 { return w.GPU }, 1. / (1 << 20)},
		{"sent", "Network, sent", "MB/s",
			"Bytes that each worker sent, without evaluations, over the same time.",
			func(w compare.WatchedRank) []float64 { return w.Sent }, 1e-6},
		{"received", "Network, received", "MB/s",
			"Bytes that each worker received, without evaluations, over the same time.",
			func(w compare.WatchedRank) []float64 { return w.Received }, 1e-6},
	}
}

// trainingFigures are the figures of a run in the order of the page: losses, accuracy, the learning rate,
// where the time goes, then what each worker took. Those without data are left out.
func trainingFigures(t *compare.Training) []figure {
	var figures []figure
	if len(t.Watched) > 0 {
		figures = append(figures, lossCurves(t))
	}
	figures = append(figures, evaluationFigures(t.Evaluations, t.Batch*max(1, t.Accumulate))...)
	if len(t.Watched) > 0 && rateQuantity().isKnown(t.Watched[:1]) {
		figures = append(figures, rateQuantity().figure(t.Watched[:1]))
	}
	figures = append(figures, rankPhases(t.Ranks)...)
	figures = append(figures, rankGPUs(t.Ranks)...)
	if t.Async != nil && t.Async.Updates > 0 {
		figures = append(figures, stalenessFigure(t.Async))
	}
	if len(t.Growth) > 0 {
		figures = append(figures, growthFigure(t.Growth))
	}
	if len(t.Moves) > 0 && shardsQuantity().isKnown(t.Watched) {
		figures = append(figures, shardsQuantity().figure(t.Watched))
	}
	if len(t.Ranks) > 0 && len(t.Ranks[0].Buckets) > 0 {
		figures = append(figures, bucketFigure(t.Ranks[0].Buckets))
	}
	quantities := rankQuantities()
	if t.Workers == 1 {
		quantities = quantities[:len(quantities)-2]
	}
	for _, q := range quantities {
		if q.isKnown(t.Watched) {
			figures = append(figures, q.figure(t.Watched))
		}
	}
	return figures
}

// lossCurves plots the loss of training and that of the test samples over the steps.
func lossCurves(t *compare.Training) figure {
	train := plot.Series{Keys: []string{"t"}, Label: "training", Style: rankStyle(0), At: t.Joint.Step,
		Values: t.Joint.Loss}
	all := []plot.Series{train}
	evaluations := record.Followed(t.Evaluations)
	part := record.ScoredPart(evaluations)
	scored := byRank(evaluations, func(e record.Evaluation) float64 { return float64(e.Steps) },
		func(e record.Evaluation) float64 { return float64(e.Loss) })
	for i, s := range scored {
		if slices.ContainsFunc(s.Values, known) {
			s.Style = plot.Style{Colour: 1 + i%(plot.NumColours-1), Number: i + 1}
			if len(scored) == 1 {
				s.Keys = []string{"v"}
			}
			all = append(all, s)
		}
	}
	p := plot.Lines{Head: plot.Head{ID: "loss", IsLead: true, Title: "Loss against step",
		Description: "The loss of training, and of the " + part + " samples where they were evaluated. " +
			"The values of training are in the table below the plot."},
		X: "step", Y: "loss, mean cross entropy", Series: all, Hi: top(all)}
	caption := "Training: " + lossOfAll(t) + ", and over the steps between two points."
	if len(all) > 1 {
		caption += " The " + part + " samples: of all of them, at each evaluation; these values are in the " +
			"table of evaluations, and the table of the loss holds those of training."
	}
	return figure{ID: "loss", Title: "Loss", Caption: someOf(len(train.At), caption), Chart: p,
		Legend: legendOf(all), Table: placesTable("Loss of training by step", "step", all[:1])}
}

// lossOfAll says what the loss of a run is the mean of.
func lossOfAll(t *compare.Training) string {
	if t.IsLoose() {
		return "mean of the workers' own losses"
	}
	return "mean over the global batch"
}

// rateQuantity is the same on all ranks.
func rateQuantity() quantity {
	return quantity{"rate", "Learning rate", "learning rate", "Of the last of the steps between two points.",
		func(w compare.WatchedRank) []float64 { return w.Rate }, 1}
}

// rankPhases stacks the seconds of each rank by phase, with the exchange that computation hid beside the
// exposed one.
func rankPhases(ranks []record.RankStat) []figure {
	names := []string{"forward", "backward", "sync_exposed", "optimizer", "data", "other", "evaluation"}
	b := plot.Bars{Head: plot.Head{ID: "phases", Title: "Phases of the run, by rank",
		Description: "Stacked bars, one per rank. The values are in the table below the plot."},
		X: "seconds", BesideAt: 2}
	t := table{Name: "Seconds by phase and rank", Head: []heading{{"rank", ""}}}
	f := figure{ID: b.ID, Title: "Where the time goes", Caption: "Wall time of the training thread of each " +
		"rank. Exposed communication is the time in which it waits for other workers."}
	for _, name := range names {
		b.Parts = append(b.Parts, phaseName(name))
		t.Head = append(t.Head, heading{strings.TrimSuffix(phaseName(name), " communication"), "s"})
	}
	for _, r := range ranks {
		hidden, isTold := hiddenSeconds(r.Buckets)
		if isTold && b.Beside == "" {
			b.Beside = "hidden communication"
			f.Caption += " The outlined bar beside it is communication that computation hid."
			t.Head = append(t.Head, heading{"hidden", "s"})
		}
		bar := plot.Bar{Label: fmt.Sprintf("rank %d", r.Rank), Beside: hidden}
		cells := []cell{{Text: fmt.Sprint(r.Rank)}}
		for _, name := range names {
			v := r.Phases.ByName()[name]
			bar.Values = append(bar.Values, v)
			cells = append(cells, cell{Text: seconds(v)})
		}
		if b.Beside != "" {
			cells = append(cells, cell{Text: seconds(hidden)})
		}
		if bar.Total() > 0 {
			b.Rows, t.Rows = append(b.Rows, bar), append(t.Rows, row{Cells: cells})
		}
	}
	if len(b.Rows) == 0 {
		return nil
	}
	f.Chart, f.Table, f.Legend = b, t, boxesOf(b)
	return []figure{f}
}

// hiddenSeconds is the time of a rank's exchanges that computation hid.
func hiddenSeconds(buckets []record.BucketStat) (sum float64, isTold bool) {
	for _, b := range buckets {
		if b.Hidden == nil {
			return math.NaN(), false
		}
		sum += b.Hidden.Seconds
	}
	if len(buckets) == 0 {
		return math.NaN(), false
	}
	return sum, true
}

// isKnown reports whether any rank tells the quantity.
func (q quantity) isKnown(ranks []compare.WatchedRank) bool {
	return slices.ContainsFunc(ranks, func(w compare.WatchedRank) bool {
		return slices.ContainsFunc(q.values(w), known)
	})
}

// figure plots the quantity of some ranks against the step.
func (q quantity) figure(ranks []compare.WatchedRank) figure {
	return q.plot(ranks, "step", func(w compare.WatchedRank) []float64 { return w.Step })
}

// over plots the quantity of some ranks against the time of the run.
func (q quantity) over(ranks []compare.WatchedRank) figure {
	return q.plot(ranks, "seconds", func(w compare.WatchedRank) []float64 { return w.At })
}

func (q quantity) plot(ranks []compare.WatchedRank, x string,
	at func(compare.WatchedRank) []float64) figure {
	var all []plot.Series
	for rank, w := range ranks {
		s := plot.Series{Keys: []string{fmt.Sprint(rank)}, Label: fmt.Sprintf("rank %d", rank),
			Style: rankStyle(rank), At: at(w)}
		if len(ranks) == 1 {
			s.Keys, s.Label = nil, q.title
		}
		for _, v := range q.values(w) {
			s.Values = append(s.Values, q.scale*v)
		}
		all = append(all, s)
	}
	hi, caption := top(all), strings.ToUpper(q.label[:1])+q.label[1:]+". "+q.caption
	if q.id == "time" {
		hi = timeLimit(all)
		caption += " Greater values are drawn on the upper edge."
	}
	p := plot.Lines{Head: plot.Head{ID: q.id, Title: q.title + " against " + x,
		Description: "One curve per rank. The values are in the table below the plot."},
		Y: q.label, X: x, Series: all, Hi: hi}
	caption = someOf(len(all[0].At), caption)
	return figure{ID: q.id, Title: q.title, Caption: caption, Chart: p, Legend: legendOf(all),
		Table: placesTable(q.title, x, all)}
}

// bucketFigure shows what exchanging each bucket took on rank 0. Hidden times are shown if they are known.
func bucketFigure(buckets []record.BucketStat) figure {
	b := plot.Bars{Head: plot.Head{ID: "buckets", Title: "Exchange of each bucket of gradients",
		Description: "Stacked bars, one per bucket. The values are in the table below the plot."},
		X: "ms per step, mean", Parts: []string{"exposed", "hidden"}, BesideAt: -1}
	t := table{Name: "Exchange of each bucket, ms per step", Head: []heading{{"bucket", ""},
		{"exposed", "ms"},
		{"hidden", "ms"}, {"size", ""}}}
	f := figure{ID: b.ID, Title: "Exchange of each bucket", Caption: "On rank 0, in the order in which " +
		"backward completes them. Hidden communication overlaps the backward pass, exposed communication " +
		"keeps training waiting."}
	if buckets[0].Hidden == nil {
		b.Parts = b.Parts[:1]
		t.Head = slices.Delete(t.Head, 2, 3)
		f.Caption = "On rank 0. Exposed: training waits for the new weights of a bucket. What else it " +
			"waits for, such as a slow worker or the next batch, belongs to no bucket."
	}
	for i, one := range buckets {
		bar := plot.Bar{Label: fmt.Sprintf("bucket %d", i+1),
			Values: []float64{1e3 * one.Exposed.StepSeconds}}
		if one.Hidden != nil {
			bar.Values = append(bar.Values, 1e3*one.Hidden.StepSeconds)
		}
		cells := []cell{{Text: fmt.Sprint(i + 1)}}
		for _, v := range bar.Values {
			cells = append(cells, cell{Text: digits(v, 4)})
		}
		b.Rows = append(b.Rows, bar)
		t.Rows = append(t.Rows, row{Cells: append(cells, cell{Text: byteCount(float64(one.Bytes))})})
	}
	f.Chart, f.Table, f.Legend = b, t, boxesOf(b)
	return f
}

// tableRows is how many points of a series a table has at most.
const tableRows = 12

// someOf adds to the caption of means over what lies between the points of a chart that the table below has
// only some of them, if that is so.
func someOf(points int, caption string) string {
	if points <= tableRows {
		return caption
	}
	return caption + " The table has some of these points, and no means of what lies between its rows."
}

// placesTable shows series at about a dozen of the first one's places, the last among them.
func placesTable(name, place string, all []plot.Series) table {
	t := table{Name: name, Head: []heading{{place, ""}}}
	for _, s := range all {
		t.Head = append(t.Head, heading{s.Label, ""})
	}
	n := len(all[0].At)
	for i := range min(n, tableRows) {
		at := (i+1)*n/min(n, tableRows) - 1
		cells := []cell{{Text: digits(all[0].At[at], 4)}}
		if place != "seconds" {
			cells[0].Text = trim(all[0].At[at])
		}
		for _, s := range all {
			text := dash
			if at < len(s.Values) {
				text = digits(s.Values[at], 4)
			}
			cells = append(cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
