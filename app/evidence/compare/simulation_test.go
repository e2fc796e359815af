package compare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
)

// kinds are ways in which a machine varies, as factors of the times of rows by round. A walk or a clock
// is the machine's and goes on from run to run, in the order of the runs; what correlates is each row's
// own.
var kinds = []struct {
	name string
	draw func(r *rand.Rand, rows, rounds int) [][]float64
}{
	{"independent", correlated(0, 0.03, 0)},
	{"correlation 0.5, a walk", correlated(0.5, 0.03, 0.005)},
	{"correlation 0.8, a walk", correlated(0.8, 0.03, 0.005)},
	{"correlation 0.8, much of both", correlated(0.8, 0.05, 0.01)},
	{"a walk", correlated(0, 0.01, 0.01)},
	{"heavy tails", apart(func(r *rand.Rand) float64 {
		squares := 0.0 // Student's distribution with 3 degrees of freedom
		for range 3 {
			v := r.NormFloat64()
			squares += v * v
		}
		return 0.02 * r.NormFloat64() / math.Sqrt(squares/3)
	})},
	{"bursts in a run of ten", apart(func(r *rand.Rand) float64 {
		v := 0.01 * r.NormFloat64()
		if r.IntN(10) == 0 {
			v += math.Log1p(r.ExpFloat64())
		}
		return v
	})},
	{"two clock rates", func(r *rand.Rand, rows, rounds int) [][]float64 {
		rate := 0.0
		return bench(rounds, rows, func(int) float64 { return 1 }, func() float64 {
			if r.IntN(8) == 0 {
				rate = 0.14 - rate
			}
			return math.Exp(rate + 0.01*r.NormFloat64())
		})
	}},
}

// correlated draws noise of a deviation whose neighbours correlate, on a machine whose speed walks.
func correlated(r, deviation, walk float64) func(*rand.Rand, int, int) [][]float64 {
	return func(random *rand.Rand, rows, rounds int) [][]float64 {
		log := 0.0
		times := bench(rounds, rows, func(int) float64 { return 1 }, func() float64 {
			log += walk * random.NormFloat64()
			return math.Exp(log)
		})
		for _, row := range times {
			own := random.NormFloat64()
			for i := range row {
				row[i] *= math.Exp(deviation * own)
				own = r*own + math.Sqrt(1-r*r)*random.NormFloat64()
			}
		}
		return times
	}
}

// apart draws the logarithms of all times by themselves.
func apart(log func(*rand.Rand) float64) func(*rand.Rand, int, int) [][]float64 {
	return func(r *rand.Rand, rows, rounds int) [][]float64 {
		return bench(rounds, rows, func(int) float64 { return 1 }, func() float64 { return math.Exp(log(r)) })
	}
}

// At most one in twenty benchmarks of four equal rows may show a difference, and 90 of 100 intervals
// cover the true ratio where 95 are stated, whatever the noise, the number of rounds, and whether rounds
// were added until intervals were narrow. The short test draws a fifth.
func TestVerdictsHoldOnMachinesThatDrift(t *testing.T) {
	trials := 200
	if testing.Short() {
		trials = 40
	}
	slack := 3 * math.Sqrt(0.05*0.95/float64(trials))
	for _, kind := range kinds {
		for _, rounds := range []int{3, 4, 5, 6, 10, 20, 0} { // 0: as many as make intervals narrow
			r := rand.New(rand.NewPCG(uint64(rounds), 8))
			wrong, covered, intervals := 0, 0, 0
			for range trials {
				c := drawn(r, kind.draw, rounds)
				for _, p := range c.Groups[0].Pairs() {
					intervals++
					if p.Interval.Contains(1) {
						covered++
					}
				}
				if slices.ContainsFunc(c.Groups[0].Pairs(), compare.Pair.IsDecided) {
					wrong++
				}
			}
			falsely := float64(wrong) / float64(trials)
			covers := float64(covered) / float64(intervals)
			t.Logf("%s, %d rounds: %.3f of benchmarks falsely show a difference, %.3f of intervals cover",
				kind.name, rounds, falsely, covers)
			if falsely > 0.05+slack || covers < 0.9-slack {
				t.Error("want at most 0.05, and at least 0.9")
			}
		}
	}
}

// drawn returns a benchmark of four equal rows and some rounds; for none, one of up to 20 rounds that
// ends when each interval is at most 2 % wide to both sides.
func drawn(r *rand.Rand, draw func(*rand.Rand, int, int) [][]float64, rounds int) *compare.Comparison {
	if rounds > 0 {
		return compare.OfTimes(draw(r, 4, rounds))
	}
	times := draw(r, 4, 20)
	for n := stat.LeastRounds; ; n++ {
		some := make([][]float64, len(times))
		for i := range times {
			some[i] = times[i][:n]
		}
		if c := compare.OfTimes(some); n == 20 || len(c.Wide(0.02)) == 0 {
			return c
		}
	}
}
