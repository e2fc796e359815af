package report

import "lockstep/app/record"

// stalenessFigure plots the distribution of the staleness of an asynchronous run's updates.
func stalenessFigure(a *record.Async) figure {
	share := series{keys: []string{"s"}, label: "share of updates", style: "k0 d0"}
	top := 0.0
	for staleness, n := range a.Staleness {
		share.at = append(share.at, float64(staleness))
		share.values = append(share.values, 100*float64(n)/float64(max(1, a.Updates)))
		top = max(top, share.values[staleness])
	}
	all := []series{share}
	p := curves{id: "staleness", title: "Staleness of updates",
		description: "The values are in the table below the plot.", yLabel: "% of updates",
		xLabel: "staleness, updates", series: all, hi: top, format: trim}
	return figure{Title: "Staleness of updates", Caption: "The number of updates that came between the " +
		"weights from which a gradient was computed and its own update, and the share of the updates that " +
		"had it.",
		Plot: p.markup(), Table: placesTable("Staleness of updates, % of updates", "staleness", all),
		Legend: []legend{{Swatch: swatch(share.style), Key: share.keys[0], Name: share.label}}}
}
