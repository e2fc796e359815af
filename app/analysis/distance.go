package analysis

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
)

// FarLatency is a core-to-core latency, in nanoseconds, that cores of one cache do not have.
const FarLatency = 200

// The cores are far apart when their latency is this many times the least of the benchmark, and this many
// nanoseconds more.
const (
	farFactor = 2
	farExcess = 100
)

// distance warns if the cores were nearer to each other beside some runs than beside others, and says what
// that was worth in the row where it shows most.
func distance(_ *record.Results, c *Comparison) []string {
	near, far := math.Inf(1), 0.0
	c.lines(func(_ *Group, l *Line) {
		for _, run := range l.runs {
			if isLatencyKnown(run) {
				near = min(near, slices.Min(run.CoreLatency))
				far = max(far, slices.Max(run.CoreLatency))
			}
		}
	})
	limit := max(farFactor*near, near+farExcess)
	if far < limit {
		return nil
	}
	apart, all, worst, shown := 0, 0, 1.0, ""
	c.lines(func(g *Group, l *Line) {
		times := l.byDistance(limit)
		apart, all = apart+len(times.far), all+len(times.far)+len(times.near)
		if ratio := Median(times.far) / Median(times.near); ratio > worst {
			worst, shown = ratio, fmt.Sprintf(" It shows most in %s: %s beside these runs, %s beside "+
				"the others.", c.name(g, l), ms(Median(times.far)), ms(Median(times.near)))
		}
	})
	return one("The cores were nearer to each other beside some runs than beside others: a cache line took "+
		"%.0f ns to another core and back, but up to %.0f ns before or after %d of %d runs, as when the "+
		"cores of a virtual machine are moved apart, to different caches. Threads and workers that share "+
		"work are slower then.%s", near, far, apart, all, shown)
}

// distances holds the step times of a row's runs by how far the cores were apart.
type distances struct{ near, far []float64 }

// byDistance returns the times of the runs that count. Far are those beside which a latency reached the
// limit.
func (l *Line) byDistance(limit float64) (d distances) {
	for _, run := range l.runs {
		switch step := l.stepByRound[run.Round]; {
		case !isLatencyKnown(run) || math.IsNaN(step):
		case slices.Max(run.CoreLatency) >= limit:
			d.far = append(d.far, step)
		default:
			d.near = append(d.near, step)
		}
	}
	return d
}

// isLatencyKnown reports whether the core-to-core latency was measured before and after a run.
func isLatencyKnown(run *record.Run) bool {
	return len(run.CoreLatency) > 0 && slices.Min(run.CoreLatency) > 0
}
