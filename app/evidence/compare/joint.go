package compare

import (
	"maps"
	"slices"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// isLoose reports whether the workers of a strategy do not wait for one another in every step, so that each
// tells its own losses and samples.
func isLoose(name string, workers int) bool {
	return workers > 1 && strategy.Named(name).IsLoose()
}

// Curve is the loss of a run at some of its steps, each with the samples of all workers until then.
type Curve struct {
	Step    []float64 // number of the last step of the stretch, from 1
	Loss    []float64 // of the global batch, mean over the stretch
	At      []float64 // seconds of steps until the end of the stretch
	Samples []float64 // that the run trained on until then
}

// IsLoose reports whether the workers do not wait for one another in every step: then each tells its own
// losses and samples, and [Training.Joint] differs from what rank 0 tells.
func (t *Training) IsLoose() bool { return isLoose(t.Strategy, t.Workers) }

// MeetsSometimes reports whether a step of rank 0 does not tell how fast the run is: workers meet in some
// steps only, or share the steps.
func (t *Training) MeetsSometimes() bool { return t.IsLoose() && !strategy.Named(t.Strategy).IsFloor }

// stretchOfAll adds up the steps of all workers in a stretch.
type stretchOfAll struct {
	last, lines       int
	loss, at, samples float64
}

// joining adds up the steps of workers that each tell their own, by the number of the stretch.
type joining struct {
	stretches map[int]*stretchOfAll
	seconds   []float64 // of the steps until now, by rank
}

func (j *joining) add(l record.Step, stretch int) {
	if j.stretches == nil {
		j.stretches = map[int]*stretchOfAll{}
	}
	s := j.stretches[l.Step/stretch]
	if s == nil {
		s = &stretchOfAll{}
		j.stretches[l.Step/stretch] = s
	}
	for len(j.seconds) <= l.Rank {
		j.seconds = append(j.seconds, 0)
	}
	j.seconds[l.Rank] += float64(l.Seconds)
	s.last, s.at = max(s.last, l.Step), max(s.at, j.seconds[l.Rank])
	if l.Samples > 0 { // else the worker had none, and no loss
		s.lines, s.loss, s.samples = s.lines+1, s.loss+float64(l.Loss), s.samples+float64(l.Samples)
	}
}

// curve returns what the workers did together. A stretch ends when the last worker has done its steps.
func (j *joining) curve() Curve {
	var c Curve
	at, samples := 0.0, 0.0
	for _, i := range slices.Sorted(maps.Keys(j.stretches)) {
		s := j.stretches[i]
		at, samples = max(at, s.at), samples+s.samples
		if s.lines == 0 {
			continue
		}
		c.Step, c.Loss = append(c.Step, float64(s.last+1)), append(c.Loss, s.loss/float64(s.lines))
		c.At, c.Samples = append(c.At, at), append(c.Samples, samples)
	}
	return c
}

// joint returns the curve of the run: what the workers did together where each tells its own steps, else what
// rank 0 tells of all. Steps of gradients that servers dropped trained on nothing: the places are scaled to
// the samples of the run, as those of a benchmark are.
func (t *Training) joint(all *joining) Curve {
	if !t.IsLoose() {
		if len(t.Watched) == 0 {
			return Curve{}
		}
		w := t.Watched[0]
		return Curve{Step: w.Step, Loss: w.Loss, At: w.At, Samples: w.Samples}
	}
	c := all.curve()
	if t.Async != nil && t.Async.Dropped > 0 && t.Samples > 0 && len(c.Samples) > 0 {
		by := float64(t.Samples) / c.Samples[len(c.Samples)-1]
		for i := range c.Samples {
			c.Samples[i] *= by
		}
	}
	return c
}
