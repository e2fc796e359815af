package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
)

// evaluationFigures lists all evaluations, and plots them if a rank has several.
func evaluationFigures(evaluations []record.Evaluation) []figure {
	if len(evaluations) == 0 {
		return nil
	}
	all := []figure{{Title: "Evaluations", Caption: "On all test samples. Rank 0 stands for all ranks that " +
		"exchange gradients.", Table: evaluationTable(evaluations)}}
	accuracies := byRank(evaluations, func(e record.Evaluation) float64 { return 100 * float64(e.Accuracy) })
	if len(accuracies[0].values) < 2 {
		return all
	}
	losses := byRank(evaluations, func(e record.Evaluation) float64 { return float64(e.Loss) })
	if slices.ContainsFunc(losses[0].values, known) {
		all = append(all, evaluationPlot("validation", "Validation loss",
			"mean cross entropy of test samples", losses, top(losses)))
	}
	all = append(all, evaluationPlot("accuracy", "Accuracy", "test accuracy, %", accuracies, 100))
	if len(accuracies) > 1 { // whose evaluations are at different times
		for i := range all {
			all[i].Table = all[0].Table
		}
	}
	return all
}

// evaluationTable has a row for each evaluation.
func evaluationTable(evaluations []record.Evaluation) table {
	t := table{Name: "Evaluations", Head: []heading{{"epoch", ""}, {"rank", ""}, {"loss/validation", ""},
		{"accuracy/validation", ""}, {"learning rate", ""}, {"wall time, s", ""}}}
	for _, e := range evaluations {
		rate := dash
		if e.Steps > 0 && e.Rate > 0 {
			rate = digits(float64(e.Rate), 3)
		}
		wall := dash
		if e.WallSeconds > 0 {
			wall = seconds(float64(e.WallSeconds))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: fmt.Sprintf("%.4g", float64(e.Epochs))},
			{Text: fmt.Sprint(e.Rank)}, {Text: fixed(float64(e.Loss), 4)},
			{Text: fmt.Sprintf("%.2f %%", 100*float64(e.Accuracy))}, {Text: rate}, {Text: wall}}})
	}
	return t
}

// byRank returns a series for each rank that told of evaluations, against seconds of training.
func byRank(evaluations []record.Evaluation, value func(record.Evaluation) float64) []series {
	var all []series
	for _, e := range evaluations {
		key := fmt.Sprint(e.Rank)
		i := slices.IndexFunc(all, func(s series) bool { return s.keys[0] == key })
		if i < 0 {
			i = len(all)
			all = append(all, series{keys: []string{key}, label: "rank " + key,
				style: fmt.Sprintf("k%d d%d", i%6, i%6)})
		}
		all[i].at = append(all[i].at, float64(e.TrainSeconds))
		all[i].values = append(all[i].values, value(e))
	}
	if len(all) == 1 {
		all[0].keys, all[0].label = []string{"all"}, "test samples"
	}
	return all
}

// top returns the largest value that is known.
func top(all []series) float64 {
	most := 0.0
	for _, s := range all {
		for _, v := range s.values {
			if known(v) {
				most = math.Max(most, v)
			}
		}
	}
	return most
}

// evaluationPlot plots series against the time of training.
func evaluationPlot(id, title, label string, all []series, hi float64) figure {
	p := curves{id: id, title: title + " against training time",
		description: "The values are in the table below the plot.", yLabel: label,
		xLabel: "seconds of training", series: all, hi: hi, format: trim}
	return figure{Title: title,
		Caption: "On all test samples, against seconds of training, without evaluations.",
		Plot:    p.markup(), Table: placesTable(title, "seconds", all)}
}
