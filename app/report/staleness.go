package report

import (
	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// stalenessFigure plots the distribution of the staleness of an asynchronous run's updates.
func stalenessFigure(a *record.Async) figure {
	share := plot.Series{Label: "share of updates"}
	for staleness, n := range a.Staleness {
		share.At = append(share.At, float64(staleness))
		share.Values = append(share.Values, 100*float64(n)/float64(max(1, a.Updates)))
	}
	all := []plot.Series{share}
	p := plot.Lines{Head: plot.Head{ID: "staleness", Title: "Staleness of updates",
		Description: "The values are in the table below the plot."}, Y: "% of updates",
		X: "staleness, updates", Series: all, Hi: top(all)}
	return figure{ID: p.ID, Title: "Staleness of updates", Caption: "The number of updates that came " +
		"between the weights from which a gradient was computed and its own update, and the share of the " +
		"updates that had it.", Chart: p, Table: placesTable("Staleness of updates, % of updates",
		"staleness", all)}
}
