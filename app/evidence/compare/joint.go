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

// stretch is what ranks did in some steps one after another, by rank.
type stretch map[int]*sums

// sums are those of the steps of a rank in a stretch.
type sums struct {
	steps, last         int
	loss, samples       float64
	scored              int     // steps with samples; in others the rank had none, and no loss
	scoredLoss          float64 // sum of their losses
	seconds, cpu, usage float64
	memory              float64 // most of a step
	sent, received      float64
	spent               record.Steps // of the last part of the run alone, one in each column
}

// of returns the sums of a rank, new ones if it has none.
func (s stretch) of(rank int) *sums {
	if s[rank] == nil {
		s[rank] = &sums{}
	}
	return s[rank]
}

// add adds a step, which isLast if it is of the last part of the run: ranks tell in all what they spent in
// that.
func (s *sums) add(l record.Step, isLast bool) {
	s.steps, s.last = s.steps+1, max(s.last, l.Step)
	s.loss, s.samples = s.loss+float64(l.Loss), s.samples+float64(l.Samples)
	if l.Samples > 0 {
		s.scored, s.scoredLoss = s.scored+1, s.scoredLoss+float64(l.Loss)
	}
	s.seconds, s.cpu = s.seconds+float64(l.Seconds), s.cpu+l.CPUSeconds
	s.usage, s.memory = s.usage+l.UsageSeconds, math.Max(s.memory, float64(l.RSSBytes))
	s.sent, s.received = s.sent+float64(l.BytesSent), s.received+float64(l.BytesReceived)
	if !isLast {
		return
	}
	if s.spent.Phases == nil {
		s.spent.Phases = map[string]record.Numbers{}
	}
	for name, v := range l.Phases.ByName() {
		s.spent.Phases[name] = record.Numbers{entry(s.spent.Phases[name], 0) + v}
	}
	for to, v := range map[*record.Numbers]float64{&s.spent.Seconds: float64(l.Seconds),
		&s.spent.CPU: l.CPUSeconds, &s.spent.Usage: l.UsageSeconds, &s.spent.Delayed: l.DelayedSeconds,
		&s.spent.GradientCPU: l.GradientCPUSeconds, &s.spent.ExchangeDelayed: l.ExchangeDelayedSeconds} {
		*to = record.Numbers{entry(*to, 0) + v}
	}
}

// follow returns what each rank did, and all together: a stretch of all ends when the last worker has done
// its steps.
func follow(stretches map[int]stretch) (ranks []WatchedRank, all Curve) {
	at, samples := 0.0, 0.0
	for _, number := range slices.Sorted(maps.Keys(stretches)) {
		last, scored, loss := 0, 0, 0.0
		for _, rank := range slices.Sorted(maps.Keys(stretches[number])) {
			s := stretches[number][rank]
			for len(ranks) <= rank {
				ranks = append(ranks, WatchedRank{})
			}
			ranks[rank].add(s)
			last, at = max(last, s.last), max(at, ranks[rank].at)
			scored, loss, samples = scored+s.scored, loss+s.scoredLoss, samples+s.samples
		}
		if scored > 0 {
			all.add(last, loss/float64(scored), at, samples)
		}
	}
	return ranks, all
}

// add adds a stretch that ends with a step.
func (c *Curve) add(last int, loss, at, samples float64) {
	c.Step, c.Loss = append(c.Step, float64(last+1)), append(c.Loss, loss)
	c.At, c.Samples = append(c.At, at), append(c.Samples, samples)
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
func (t *Training) moveCoreWaits(stretches map[int]stretch) (out []map[string]float64) {
	for range t.Ranks {
		out = append(out, map[string]float64{})
	}
	for _, number := range slices.Sorted(maps.Keys(stretches)) {
		var all []spent
		var of []int // ranks of them
		for rank := range out {
			s := stretches[number][rank]
			if s == nil || s.spent.Seconds == nil {
				continue
			}
			s.spent.OmitZeros()
			one := spentBy(s.spent, t.Threads)[0]
			for at, seconds := range one.phases {
				out[rank][Phases()[at]] -= seconds
			}
			all, of = append(all, one), append(of, rank)
		}
		moveCoreWaits(all, t.IsLoose() || t.Workers == 1)
		for i, rank := range of {
			for at, name := range Phases() {
				out[rank][name] += all[i].phases[at]
			}
		}
	}
	return out
}

// joint returns the curve of the run: what the workers did together where each tells its own steps, else what
// rank 0 tells of all. Steps of gradients that servers dropped trained on nothing: the places are scaled to
// the samples of the run, as those of a benchmark are.
func (t *Training) joint(c Curve) Curve {
	if !t.IsLoose() {
		if len(t.Watched) == 0 {
			return Curve{}
		}
		return t.Watched[0].Curve
	}
	if t.Async != nil && t.Async.Dropped > 0 && t.Samples > 0 && len(c.Samples) > 0 {
		by := float64(t.Samples) / c.Samples[len(c.Samples)-1]
		for i := range c.Samples {
			c.Samples[i] *= by
		}
	}
	return c
}
