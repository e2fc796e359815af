package train

import (
	"math"
	"slices"

	"lockstep/shard"
)

// Note: when shards move
//
// Every worker tells the others, with the rows of a step, how long its last step took: the seconds of its
// forward and backward passes divided by its shards, and the seconds of its update, without waiting for
// others. So all workers know the same figures after the step and decide alike.
//
// A worker's speed is the median of its last balanceWindow steps of full batches. Shards move if the
// slowest worker's time by these speeds would shrink by more than leastGain, and by more than noiseFactor
// times the noise: the median deviation of a worker's steps from their median, relative to it, the largest
// of all workers. Then a new window begins, because a worker's speed may depend on its number of shards.
//
// Few noisy steps can lead to a bad plan, whose slowest worker takes a sixth longer than it must, and the
// same noise would keep it. So a window of longWindows times as many steps is judged too. The error of a
// median shrinks with the root of their number, and so does what the noise asks for.
//
// A worker that becomes slower is noticed when more than half of the window is slow, and told one step
// later: after 6 steps, and at most 10 after shards have moved for another reason.

const (
	balanceWindow = 9
	longWindows   = 4
	leastGain     = 0.05
	noiseFactor   = 2
	mostNoise     = 0.125 // what a threshold takes into account: the noise of a worker that changes
)

// Move says how shards were moved from worker to worker before a step.
type Move struct {
	Step int // the first step of the new plan
	// From and To are the numbers of shards of the workers before and after it. They are equal in the
	// first Move of a run if its first plan is kept.
	From, To []int
	// Speeds are the medians that decided.
	Speeds []shard.Speed
	// Before and After are the slowest worker's seconds of computation in a step, predicted by Speeds.
	// Best is the same by the best plan, Ideal if shards could be divided at will.
	Before, After, Best, Ideal float64
	// Noise is the largest of the workers' median deviations from their speeds, relative to these.
	Noise float64
}

// balancer decides when shards move. It is a function of the speeds that it has observed.
type balancer struct {
	recent    [][]shard.Speed // by worker: its last steps, at most those of the long window
	hasJudged bool            // a plan was decided on, if only to be kept

	// Scratch.
	speeds  []shard.Speed
	lengths []int
	sorted  []float64
}

func newBalancer(workers int) *balancer {
	b := &balancer{recent: make([][]shard.Speed, workers), speeds: make([]shard.Speed, workers),
		lengths: make([]int, workers), sorted: make([]float64, 0, longWindows*balanceWindow)}
	for r := range b.recent {
		b.recent[r] = make([]shard.Speed, 0, longWindows*balanceWindow)
	}
	return b
}

// observe notes a step of a worker.
func (b *balancer) observe(rank int, s shard.Speed) {
	w := &b.recent[rank]
	if len(*w) == cap(*w) {
		*w = (*w)[:copy(*w, (*w)[1:])]
	}
	*w = append(*w, s)
}

// decide returns the plan of a step and, if it is another one than before, how shards move. The first
// decision is a Move even if the plan is kept. It allocates only for a Move.
func (b *balancer) decide(step int, plan shard.Plan) (shard.Plan, *Move) {
	for _, windows := range [...]int{1, longWindows} {
		if len(b.recent[0]) < windows*balanceWindow { // all are observed together
			return plan, nil
		}
		if better, m := b.judge(step, plan, windows); m != nil {
			return better, m
		}
	}
	return plan, nil
}

// judge is decide by the last steps, as many as so many windows have.
func (b *balancer) judge(step int, plan shard.Plan, windows int) (shard.Plan, *Move) {
	noise := 0.0
	for r := range b.recent {
		var n float64
		b.speeds[r], n = b.median(b.recent[r][len(b.recent[r])-windows*balanceWindow:])
		noise = max(noise, n)
	}
	before, after := plan.Time(b.speeds), shard.Share(b.lengths, plan.Shards(), b.speeds)
	doubt := noiseFactor * min(noise, mostNoise) / math.Sqrt(float64(windows))
	isWorthIt := 1-after/before > max(leastGain, doubt)
	if !isWorthIt && b.hasJudged {
		return plan, nil
	}
	b.hasJudged = true
	m := &Move{Step: step, From: plan.Lengths(), To: plan.Lengths(), Speeds: slices.Clone(b.speeds),
		Before: before, After: before, Best: after, Noise: noise,
		Ideal: shard.IdealTime(plan.Shards(), b.speeds)}
	if !isWorthIt {
		return plan, m
	}
	better, err := shard.Balance(plan.Shards(), b.speeds)
	if err != nil {
		panic(err) // plan has these shards and workers
	}
	m.To, m.After = better.Lengths(), after
	for r := range b.recent {
		b.recent[r] = b.recent[r][:0]
	}
	return better, m
}

// median returns the median speed of some steps, and their median deviation from that, relative to it.
func (b *balancer) median(steps []shard.Speed) (s shard.Speed, noise float64) {
	of := func(value func(shard.Speed) float64) float64 {
		b.sorted = b.sorted[:0]
		for _, step := range steps {
			b.sorted = append(b.sorted, value(step))
		}
		slices.Sort(b.sorted)
		return b.sorted[len(b.sorted)/2]
	}
	s.Fixed = of(func(s shard.Speed) float64 { return s.Fixed })
	s.Each = of(func(s shard.Speed) float64 { return s.Each })
	return s, of(func(step shard.Speed) float64 { return max(step.Each-s.Each, s.Each-step.Each) }) / s.Each
}
