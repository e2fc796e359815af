package compare

import (
	"maps"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// isLoose reports whether the workers of a strategy do not wait for one another in every step, so that each
// tells its own losses and samples. With staleness 0 they wait, and nothing isAsync.
func isLoose(name string, workers int, isAsync bool) bool {
	way := strategy.Named(name)
	return workers > 1 && way.IsLoose() && (isAsync || !way.IsAsync)
}

// Curve is the loss of a run at some of its steps, each with the samples of all workers until then.
type Curve struct {
	Step    []float64 // number of the last step of the stretch, from 1
	Loss    []float64 // of the global batch, mean over the stretch
	At      []float64 // seconds of steps until the end of the stretch
	Samples []float64 // that the run trained on until then
}

// spent is what a rank did in a step, or in a stretch of them, in seconds.
type spent struct {
	phases              []float64 // by [Phases]
	computing, exchange float64   // of them without a core, see [record.Steps.CoreWaits]
}

// spentBy returns what a rank did, by step.
func spentBy(s record.Steps, threads int) []spent {
	all := make([]spent, len(s.Seconds))
	computing, exchange := s.CoreWaits(threads)
	for i := range all {
		all[i] = spent{make([]float64, len(Phases())), entry(computing, i), entry(exchange, i)}
		for name, values := range s.Phases {
			all[i].phases[phaseAt(name)] += entry(values, i)
		}
	}
	return all
}

// phaseAt returns the place of a phase in [Phases]; that of other for a name that is none of them.
func phaseAt(name string) int {
	n := len(Phases())
	return (slices.Index(Phases(), name) + n) % n // of -1 the last
}

// moveCoreWaits moves the time that ranks lost by waiting for cores from the phases in which they lost it to
// [CoreWait]. Workers that meet also wait for one that waits: if all had cores, the last would arrive when
// the slowest has computed, and the exchange would take it what it takes the one that waits least in it. None
// loses more by that than all of them waited.
func moveCoreWaits(ranks []spent, isApart bool) {
	const forward, backward, exchange = 0, 1, 2 // of Phases
	calm, least, waited := 0.0, math.Inf(1), 0.0
	for _, r := range ranks {
		waited += r.computing + r.exchange
		left := 1 - r.computing/max(r.phases[forward]+r.phases[backward], 1e-12)
		r.phases[forward] *= left
		r.phases[backward] *= left
		calm = max(calm, sumOf(r.phases)-r.phases[exchange])
		least = min(least, r.phases[exchange]-r.exchange)
	}
	for _, r := range ranks {
		wait, all := r.computing+r.exchange, r.computing+r.phases[exchange]
		if !isApart {
			wait = min(all, waited, max(0, sumOf(r.phases)+r.computing-calm-least))
		}
		r.phases[phaseAt(CoreWait)], r.phases[exchange] = wait, all-wait
	}
}

// IsLoose reports whether the workers do not wait for one another in every step: then each tells its own
// losses and samples, and [Training.Joint] differs from what rank 0 tells. Of a run that has not ended
// nothing tells whether it is asynchronous, so that it counts as its strategy may be.
func (t *Training) IsLoose() bool {
	return isLoose(t.Strategy, t.Workers, t.Async != nil || t.IsInterrupted)
}

// stretchOfAll adds up the steps of all workers in a stretch.
type stretchOfAll struct {
	last, lines       int
	loss, at, samples float64
	ranks             []record.Steps // sums over the stretch, one in each column
}

// joining adds up the steps of workers that each tell their own, by the number of the stretch.
type joining struct {
	from      int // steps before are of another part of the run than what ranks tell in all
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
	if l.Step >= j.from {
		s.spend(l)
	}
	if l.Samples > 0 { // else the worker had none, and no loss
		s.lines, s.loss, s.samples = s.lines+1, s.loss+float64(l.Loss), s.samples+float64(l.Samples)
	}
}

// spend adds what a rank did in a step.
func (s *stretchOfAll) spend(l record.Step) {
	for len(s.ranks) <= l.Rank {
		s.ranks = append(s.ranks, record.Steps{Seconds: record.Numbers{0},
			Phases: map[string]record.Numbers{}})
	}
	r := &s.ranks[l.Rank]
	for name, v := range l.Phases.ByName() {
		r.Phases[name] = record.Numbers{entry(r.Phases[name], 0) + v}
	}
	for to, v := range map[*record.Numbers]float64{&r.Seconds: float64(l.Seconds), &r.CPU: l.CPUSeconds,
		&r.Usage: l.UsageSeconds, &r.Delayed: l.DelayedSeconds, &r.GradientCPU: l.GradientCPUSeconds,
		&r.ExchangeDelayed: l.ExchangeDelayedSeconds} {
		*to = record.Numbers{entry(*to, 0) + v}
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
		if len(s.ranks) > len(out) {
			continue // the summary does not tell of all
		}
		var all []spent
		for i, r := range s.ranks {
			r.OmitZeros()
			all = append(all, spentBy(r, t.Threads)...)
			for at, seconds := range all[i].phases {
				out[i][Phases()[at]] -= seconds
			}
		}
		moveCoreWaits(all, t.IsLoose() || t.Workers == 1)
		for i := range all {
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
		return t.Watched[0].Curve
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
