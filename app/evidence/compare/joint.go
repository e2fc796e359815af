package compare

import (
	"cmp"
	"maps"
	"math"
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

// spent is what a rank did in a step, or in a stretch of them.
type spent struct {
	phases  []float64 // seconds by [Phases]
	starved float64   // share of the time in which its threads were ready to run and had no core
}

// phaseAt returns the place of a phase in [Phases]; that of other for a name that is none of them.
func phaseAt(name string) int {
	n := len(Phases())
	return (slices.Index(Phases(), name) + n) % n // of -1 the last
}

// starvation returns the share of each step in which a rank's threads waited for a core. Threads of the
// runtime wait too, which costs nothing: no more counts than processor time leaves of that of all threads.
func starvation(s record.Steps, threads int) []float64 {
	n, part := float64(max(1, threads)), 1.0
	if usage := sumOf(s.Usage); usage > 0 {
		part = min(1, max(0, usage*n-sumOf(s.CPU))/max(sumOf(s.Delayed), 1e-12))
	}
	out := make([]float64, len(s.Delayed))
	for i, delayed := range s.Delayed {
		if seconds := entry(s.Seconds, i); seconds > 0 {
			out[i] = min(1, part*delayed/(n*seconds))
		}
	}
	return out
}

// moveCoreWaits moves the time that ranks lost by waiting for cores from the phases in which they lost it to
// [CoreWait]. Nothing tells in which phase of its own a thread waited, so all of them shrink by its share.
// Workers that meet also wait for one that waits: without waits for cores they would leave the exchange as
// much earlier as the last of them would arrive and its own exchange be done; that time is lost to all.
func moveCoreWaits(ranks []spent, isApart bool) {
	const exchange = 2 // of Phases
	if !slices.ContainsFunc(ranks, func(r spent) bool { return r.starved > 0 }) {
		return
	}
	own := func(r spent) float64 { return sumOf(r.phases) - r.phases[exchange] }
	last := slices.MinFunc(ranks, func(a, b spent) int {
		return cmp.Compare(a.phases[exchange], b.phases[exchange])
	})
	calm, lost := 0.0, math.Inf(1)
	for _, r := range ranks {
		calm = max(calm, own(r)*(1-r.starved))
	}
	if !isApart {
		lost = max(0, own(last)-calm+last.phases[exchange]*last.starved)
	}
	for _, r := range ranks {
		total := sumOf(r.phases)
		most := total - own(r)*(1-r.starved)
		if isApart {
			most = total * r.starved
		}
		wait := min(lost, most)
		for i := range r.phases {
			r.phases[i] *= 1 - r.starved
		}
		if r.phases[phaseAt(CoreWait)] = wait; !isApart {
			r.phases[exchange] = most - wait
		}
	}
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
	ranks             []record.Steps // sums over the stretch in the only entry of each column
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
	for len(s.ranks) <= l.Rank {
		s.ranks = append(s.ranks, record.Steps{Phases: map[string]record.Numbers{}})
	}
	r := &s.ranks[l.Rank]
	for name, v := range l.Phases.ByName() {
		r.Phases[name] = record.Numbers{entry(r.Phases[name], 0) + v}
	}
	for to, v := range map[*record.Numbers]float64{&r.Seconds: float64(l.Seconds), &r.CPU: l.CPUSeconds,
		&r.Delayed: l.DelayedSeconds, &r.Usage: l.UsageSeconds} {
		*to = record.Numbers{entry(*to, 0) + v}
	}
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

// Spent returns the seconds of a rank by phase, those of [Phases] and evaluation.
func (t *Training) Spent(rank int) map[string]float64 {
	seconds := t.Ranks[rank].Phases.ByName()
	if rank < len(t.moved) {
		for name, v := range t.moved[rank] {
			seconds[name] += v
		}
	}
	return seconds
}

// moveCoreWaits returns by how much waits for cores change the phases of each rank, stretch by stretch.
func (t *Training) moveCoreWaits(stretches map[int]*stretchOfAll) (out []map[string]float64) {
	for range t.Ranks {
		out = append(out, map[string]float64{})
	}
	for _, s := range stretches {
		if len(s.ranks) != len(out) {
			continue // of a part of the run with other workers
		}
		var all []spent
		for i, r := range s.ranks {
			all = append(all, spent{make([]float64, len(Phases())), entry(starvation(r, t.Threads), 0)})
			for name, v := range r.Phases {
				all[i].phases[phaseAt(name)] += v[0]
				out[i][Phases()[phaseAt(name)]] -= v[0]
			}
		}
		moveCoreWaits(all, t.IsLoose() || t.Workers == 1)
		for i := range out {
			for at, name := range Phases() {
				out[i][name] += all[i].phases[at]
			}
		}
	}
	return out
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
