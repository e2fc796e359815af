package shard_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/shard"
)

func ExampleBalance() {
	speeds := []shard.Speed{{Each: 1}, {Each: 1}, {Each: 1}, {Each: 3}}
	p, _ := shard.Balance(20, speeds)
	fmt.Println(p.Lengths(), p.Time(speeds), shard.IdealTime(20, speeds))
	// Output: [6 6 6 2] 6 6
}

// No assignment of shards to workers is done earlier than Balance's.
func TestBalanceIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		workers := 1 + r.IntN(4)
		shards := workers + r.IntN(10)
		speeds := make([]shard.Speed, workers)
		for i := range speeds {
			speeds[i] = shard.Speed{Fixed: float64(r.IntN(3)), Each: 1 + float64(r.IntN(4))}
		}
		p, err := shard.Balance(shards, speeds)
		if err != nil {
			t.Fatal(err)
		}
		checkPlan(t, p, shards)
		if got, want := p.Time(speeds), fastest(shards, speeds); got != want {
			t.Errorf("%d shards, %v: %v takes %v, best %v", shards, speeds, p.Lengths(), got, want)
		}
		if ideal := shard.IdealTime(shards, speeds); ideal > p.Time(speeds)*(1+1e-12) {
			t.Errorf("%d shards, %v: ideal %v, but %v", shards, speeds, ideal, p.Time(speeds))
		}
	}
}

// fastest tries all assignments of shards to workers.
func fastest(shards int, speeds []shard.Speed) float64 {
	s := speeds[0]
	if len(speeds) == 1 {
		return s.Fixed + float64(shards)*s.Each
	}
	best := math.Inf(1)
	for n := 1; n <= shards-len(speeds)+1; n++ {
		best = min(best, max(s.Fixed+float64(n)*s.Each, fastest(shards-n, speeds[1:])))
	}
	return best
}

// checkPlan checks that the runs are contiguous and cover all shards.
func checkPlan(t *testing.T, p shard.Plan, shards int) {
	t.Helper()
	at := 0
	for r := range p.Workers() {
		lo, hi := p.Run(r)
		if lo != at || hi <= lo {
			t.Errorf("worker %d runs [%d, %d) after %d", r, lo, hi, at)
		}
		at = hi
	}
	if at != shards || p.Shards() != shards {
		t.Errorf("runs end at %d of %d, want %d", at, p.Shards(), shards)
	}
}

// Equal workers get equal runs, cut where few subtrees are divided.
func TestBalanceOfEqualWorkers(t *testing.T) {
	for shards := 1; shards <= 40; shards++ {
		for workers := 1; workers <= min(shards, 9); workers++ {
			speeds := slices.Repeat([]shard.Speed{{Each: 1}}, workers)
			p, err := shard.Balance(shards, speeds)
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, p, shards)
			if most := slices.Max(p.Lengths()); most != (shards+workers-1)/workers {
				t.Errorf("%d shards: %v", shards, p.Lengths())
			}
		}
	}
	p, _ := shard.Balance(10, slices.Repeat([]shard.Speed{{Each: 1}}, 3))
	if got := p.Lengths(); !slices.Equal(got, []int{4, 4, 2}) {
		t.Errorf("10 shards: %v, want runs of 4, 4 and 2, each one subtree", got)
	}
}

func TestPlansAreRefused(t *testing.T) {
	for _, lengths := range [][]int{nil, {1, 0}, {-1}} {
		if p, err := shard.PlanOf(lengths); err == nil {
			t.Errorf("%v makes %v", lengths, p)
		}
	}
	for _, shards := range []int{0, 1} {
		if _, err := shard.Balance(shards, make([]shard.Speed, shards*2)); err == nil {
			t.Errorf("%d shards over %d workers", shards, shards*2)
		}
	}
}
