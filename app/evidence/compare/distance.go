package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"

	"lockstep/app/record"
)

// The cores were moved when their latency was this many times the least of the benchmark, and this many
// nanoseconds more. A row shows it from a difference of the step on.
const (
	farFactor = 2
	farExcess = 100
	farShows  = 1.05
	fewestFar = 2 // runs on each side
)

// distance warns if the cores were far apart, in all runs or in some, and says then what that was worth in
// the row where it shows most.
func distance(r *record.Results, c *Comparison) []string {
	near, far := math.Inf(1), 0.0
	c.lines(func(_ *Group, l *Line) {
		for _, v := range l.latencies() {
			near, far = min(near, v[0]), max(far, v[1])
		}
	})
	if far < max(farFactor*near, near+farExcess) {
		if near < record.FarLatency || math.IsInf(near, 0) || r.Host.Cores > record.CacheCores {
			return nil
		}
		return one("The cores were far apart: a cache line took %.0f to %.0f ns to another core and back, "+
			"where cores of one cache take 50 to 100. Threads that share work are slower for it, workers "+
			"with a process each hardly.", near, far)
	}
	apart, all, worst, shown := 0, 0, farShows, ""
	c.lines(func(g *Group, l *Line) {
		d := l.byDistance(max(farFactor*near, near+farExcess))
		apart, all = apart+len(d.far), all+len(d.far)+len(d.near)
		ratio := stat.Median(d.far) / stat.Median(d.near)
		if min(len(d.far), len(d.near)) < fewestFar || l.Setting.NumThreads() < 2 || !(ratio > worst) {
			return
		}
		worst, shown = ratio, fmt.Sprintf(" It shows most in %s: %s a step in those runs, %s in the others.",
			c.name(g, l), ms(stat.Median(d.far)), ms(stat.Median(d.near)))
	})
	return one("The cores were moved apart and back: before or after %d of %d runs a cache line took up "+
		"to %.0f ns to another core and back, else from %.0f ns on. So it is when the cores of a virtual "+
		"machine get different caches. Threads that share work are slower then, workers with a process "+
		"each hardly.%s", apart, all, far, near, shown)
}

// distances holds the step times of a row's runs by how far the cores were apart.
type distances struct{ near, far []float64 }

// byDistance returns the times of the runs that count. Far are those beside which a latency reached the
// limit.
func (l *Line) byDistance(limit float64) (d distances) {
	for round, v := range l.latencies() {
		if v[1] >= limit {
			d.far = append(d.far, l.stepByRound[round])
		} else {
			d.near = append(d.near, l.stepByRound[round])
		}
	}
	return d
}

// latencies returns the lesser and the greater latency beside each run that counts and tells both, by round.
func (l *Line) latencies() map[int][2]float64 {
	known := map[int][2]float64{}
	for _, run := range l.runs {
		v := run.CoreLatency
		if len(v) == 2 && slices.Min(v) >= 1 && !math.IsNaN(l.stepByRound[run.Round]) {
			known[run.Round] = [2]float64{slices.Min(v), slices.Max(v)}
		}
	}
	return known
}
