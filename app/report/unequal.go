package report

import (
	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// shardsQuantity is the number of shards of each worker.
func shardsQuantity() quantity {
	return quantity{"shards", "Shards of each worker", "shards of a step",
		"Mean over the steps between two points. Shards move from workers that are slow to those that are " +
			"fast.",
		func(w compare.WatchedRank) []float64 { return w.Shards }, 1}
}

// growthFigure plots the batch and the gradient noise scale against the step.
func growthFigure(growth []record.Growth) figure {
	batch := plot.Series{Keys: []string{"b"}, Label: "batch", Style: rankStyle(0)}
	noise := plot.Series{Keys: []string{"n"}, Label: "noise scale", Style: rankStyle(1)}
	hi := 0.0
	for _, g := range growth {
		for _, s := range []*plot.Series{&batch, &noise} {
			s.At = append(s.At, float64(g.Step))
		}
		batch.Values = append(batch.Values, float64(g.To))
		noise.Values = append(noise.Values, float64(g.Noise))
		hi = max(hi, 4*float64(g.To))
	}
	all := []plot.Series{batch, noise}
	p := plot.Lines{Head: plot.Head{ID: "growth", Title: "Batch and gradient noise scale against step",
		Description: "The values are in the table below the plot."}, Y: "samples", X: "step", Series: all,
		Hi: hi}
	return figure{ID: p.ID, Title: "Batch and gradient noise scale", Caption: "After each epoch: the batch " +
		"from then on, and the batch at which the noise of the mean gradient has the size of the gradient. " +
		"A gap: no gradient showed in the noise. Greater values are drawn on the upper edge.",
		Chart: p, Table: placesTable("Batch and gradient noise scale, samples", "step", all),
		Legend: legendOf(all)}
}

// legendOf is the legend of series.
func legendOf(all []plot.Series) []legend {
	var out []legend
	for _, s := range all {
		if len(s.Keys) > 0 {
			out = append(out, legend{Sample: plot.Curve(s.Style), Key: s.Keys[0], Name: s.Label})
		}
	}
	return out
}
