package report

import (
	"lockstep/app/analysis"
	"lockstep/app/record"
)

// shardsQuantity is the number of shards of each worker.
func shardsQuantity() quantity {
	return quantity{"shards", "Shards of each worker", "shards of a step",
		"Mean over the steps between two points. Shards move from workers that are slow to those that are " +
			"fast.",
		func(w analysis.WatchedRank) []float64 { return w.Shards }, 1}
}

// growthFigure plots the batch and the gradient noise scale against the step.
func growthFigure(growth []record.Growth) figure {
	batch := series{keys: []string{"b"}, label: "batch", style: "k0 d0"}
	noise := series{keys: []string{"n"}, label: "noise scale", style: "k1 d1"}
	top := 0.0
	for _, g := range growth {
		for _, s := range []*series{&batch, &noise} {
			s.at = append(s.at, float64(g.Step))
		}
		batch.values = append(batch.values, float64(g.To))
		noise.values = append(noise.values, float64(g.Noise))
		top = max(top, 4*float64(g.To))
	}
	all := []series{batch, noise}
	p := curves{id: "growth", title: "Batch and gradient noise scale against step",
		description: "The values are in the table below the plot.", yLabel: "samples", xLabel: "step",
		series: all, hi: top, format: trim}
	f := figure{Title: "Batch and gradient noise scale", Caption: "After each epoch: the batch from then " +
		"on, and the batch at which the noise of the mean gradient has the size of the gradient. A gap: no " +
		"gradient showed in the noise. Greater values are drawn on the upper edge.",
		Plot: p.markup(), Table: placesTable("Batch and gradient noise scale, samples", "step", all)}
	for _, s := range all {
		f.Legend = append(f.Legend, legend{Swatch: swatch(s.style), Key: s.keys[0], Name: s.label})
	}
	return f
}
