package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// evaluationFigures list all evaluations, and plot their accuracy if a rank has several.
func evaluationFigures(evaluations []record.Evaluation, batch int) []figure {
	if len(evaluations) == 0 {
		return nil
	}
	table := evaluationTable(evaluations)
	list := figure{ID: "evaluations", Title: "Evaluations", Caption: "On all samples of a part. Rank 0 " +
		"stands for all ranks that exchange gradients.", Table: table}
	accuracy := func(e record.Evaluation) float64 { return 100 * e.Accuracy }
	evaluations = record.Followed(evaluations)
	if len(byRank(evaluations, trainSeconds, accuracy)[0].Values) < 2 {
		return []figure{list}
	}
	part := record.ScoredPart(evaluations)
	samples := func(e record.Evaluation) float64 { return float64(e.Steps) * float64(batch) }
	plotted := []figure{evaluationPlot("accuracy", "seconds of training", part,
		byRank(evaluations, trainSeconds, accuracy), table)}
	if batch > 0 {
		plotted = append(plotted, evaluationPlot("accuracy-samples", "samples", part, byRank(evaluations,
			samples, accuracy), table))
	}
	return append(plotted, list)
}

// trainSeconds is the place of an evaluation in the time of training, without evaluations.
func trainSeconds(e record.Evaluation) float64 { return e.TrainSeconds }

// evaluationTable has a row for each evaluation.
func evaluationTable(evaluations []record.Evaluation) table {
	t := table{Name: "Evaluations", Head: []heading{{"epoch", ""}, {"rank", ""}, {"part", ""}, {"loss", ""},
		{"accuracy", ""}, {"learning rate", ""}, {"training", "s"}, {"wall time", "s"}}}
	for _, e := range evaluations {
		rate := dash
		if e.Steps > 0 && e.Rate > 0 {
			rate = digits(e.Rate, 3)
		}
		wall := dash
		if e.WallSeconds > 0 {
			wall = seconds(e.WallSeconds)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: fmt.Sprintf("%.4g", e.Epochs)},
			{Text: fmt.Sprint(e.Rank)}, {Text: e.Of()}, {Text: fixed(float64(e.Loss), 4)},
			{Text: fmt.Sprintf("%.2f %%", 100*e.Accuracy)}, {Text: rate}, {Text: seconds(e.TrainSeconds)},
			{Text: wall}}})
	}
	return t
}

// byRank returns a series for each rank that told of evaluations.
func byRank(evaluations []record.Evaluation, at, value func(record.Evaluation) float64) []plot.Series {
	var all []plot.Series
	for _, e := range evaluations {
		key := fmt.Sprint(e.Rank)
		i := slices.IndexFunc(all, func(s plot.Series) bool { return s.Keys[0] == key })
		if i < 0 {
			i = len(all)
			all = append(all, plot.Series{Keys: []string{key}, Label: "rank " + key, Style: rankStyle(i)})
		}
		all[i].At, all[i].Values = append(all[i].At, at(e)), append(all[i].Values, value(e))
	}
	if len(all) == 1 {
		all[0].Keys, all[0].Label = nil, record.ScoredPart(evaluations)+" samples"
	}
	return all
}

// rankStyle is the style of what belongs to a rank.
func rankStyle(rank int) plot.Style { return plot.Style{Colour: rank, Number: rank} }

// top returns the largest value that is known.
func top(all []plot.Series) float64 {
	most := 0.0
	for _, s := range all {
		for _, v := range slices.Concat(s.Values, s.Hi) {
			if known(v) {
				most = math.Max(most, v)
			}
		}
	}
	return most
}

// evaluationPlot plots accuracies.
func evaluationPlot(id, x, part string, all []plot.Series, t table) figure {
	p := plot.Lines{Head: plot.Head{ID: id, Title: "Accuracy against " + x,
		Description: "The values are in the table below the plot."}, X: x, Y: part + " accuracy, %",
		Series: all, Hi: 100}
	return figure{ID: id, Title: "Accuracy against " + x, Chart: p, Table: t,
		Caption: "On all " + part + " samples. Evaluations take no part in the time."}
}
