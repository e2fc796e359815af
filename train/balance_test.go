package train_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/shard"
	"lockstep/train"
)

// machine imitates workers whose steps take their time per shard, with noise, and returns the moves of
// a number of steps, and the plan at their end. A worker's report of a step arrives one step later.
func machine(t *testing.T, r *rand.Rand, shards, steps int, noise float64, each func(rank, step int) float64,
	workers int) (moves []*train.Move, plan shard.Plan) {
	t.Helper()
	b := train.NewBalancer(workers)
	plan = cut(t, shards, workers)
	for step := range steps {
		var m *train.Move
		if plan, m = b.Decide(step, plan); m != nil && !slices.Equal(m.From, m.To) {
			moves = append(moves, m)
		}
		for rank := range workers {
			if step > 0 {
				b.Observe(rank, shard.Speed{Fixed: 0.01,
					Each: each(rank, step-1) * (1 + noise*r.NormFloat64())})
			}
		}
	}
	return moves, plan
}

// Equal workers with noise keep their shards: hysteresis.
func TestNoiseMovesNoShards(t *testing.T) {
	even := func(rank, step int) float64 { return 1 }
	for _, shards := range []int{4, 16, 64, 256} {
		total := 0
		const runs, steps = 20, 1000
		for seed := range uint64(runs) {
			r := rand.New(rand.NewPCG(seed, 3))
			moves, _ := machine(t, r, shards, steps, 0.1, even, 4)
			total += len(moves)
		}
		t.Logf("%d shards: %d moves in %d runs of %d steps", shards, total, runs, steps)
		if total > runs {
			t.Errorf("%d shards: %d moves in %d runs of %d steps of equal workers with 10 %% noise, want "+
				"at most one a run", shards, total, runs, steps)
		}
	}
}

// A worker throttled in mid-run to a third is noticed within 20 steps, wherever that happens, and shards
// return once it is at full speed again. The result is near what Balance finds for the true speeds.
func TestAThrottledWorkerIsNoticed(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 4))
		from := 1 + r.IntN(60)
		until := from + 40 + r.IntN(20)
		slow := func(rank, step int) float64 {
			if rank == 2 && from <= step && step < until {
				return 3
			}
			return 1
		}
		moves, plan := machine(t, r, 20, until+40, 0.03, slow, 4)
		at := slices.IndexFunc(moves, func(m *train.Move) bool { return m.Step > from })
		if at < 0 || moves[at].Step > from+20 {
			t.Fatalf("seed %d: throttled at %d, moves %v", seed, from, steps(moves))
		}
		if got := moves[at].To; !slices.Equal(got, []int{6, 6, 2, 6}) {
			t.Errorf("seed %d: %v", seed, got)
		}
		if last := moves[len(moves)-1].Step; last < until || last > until+20 || len(moves) > 4 {
			t.Errorf("seed %d: full speed at %d, moves %v", seed, until, steps(moves))
		}
		if got := plan.Lengths(); slices.Max(got) > 6 {
			t.Errorf("seed %d: %v at the end", seed, got)
		}
	}
}

// A bad plan that noise of 20 % leads to is corrected: after 200 steps shards are where they belong.
func TestABadPlanIsCorrected(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		slow := func(rank, step int) float64 {
			if rank == 3 {
				return 3
			}
			return 1
		}
		moves, plan := machine(t, r, 20, 200, 0.2, slow, 4)
		if got := plan.Lengths(); !slices.Equal(got, []int{6, 6, 6, 2}) {
			t.Errorf("seed %d: %v after moves at %v", seed, got, steps(moves))
		}
	}
}

// steps lists when shards moved.
func steps(moves []*train.Move) []int {
	var at []int
	for _, m := range moves {
		at = append(at, m.Step)
	}
	return at
}

// The first decision tells speeds and ideal even if shards stay.
func TestTheFirstDecisionIsTold(t *testing.T) {
	b := train.NewBalancer(2)
	plan := cut(t, 2, 2)
	var told []*train.Move
	for step := range 40 {
		var m *train.Move
		if plan, m = b.Decide(step, plan); m != nil {
			told = append(told, m)
		}
		b.Observe(0, shard.Speed{Each: 1})
		b.Observe(1, shard.Speed{Each: 3})
	}
	if len(told) != 1 || !slices.Equal(told[0].From, told[0].To) || told[0].Before != 3 ||
		told[0].After != 3 || told[0].Ideal != 1.5 {
		t.Errorf("%d decisions, first %+v", len(told), told[0])
	}
	if n := testing.AllocsPerRun(10, func() { b.Decide(50, plan) }); n > 0 {
		t.Errorf("a decision to stay makes %v allocations", n)
	}
}
