package compare_test

import (
	"math"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestTextsOfMovesAndGrowth(t *testing.T) {
	stay := record.Move{Step: 10, From: []int{4, 4}, To: []int{4, 4}, Before: 0.01, After: 0.01, Ideal: 0.009}
	move := record.Move{Step: 31, From: []int{4, 4}, To: []int{6, 2}, Before: 0.03, After: 0.02, Ideal: 0.018}
	for _, c := range []struct {
		moves []record.Move
		want  string
	}{
		{nil, ""},
		{[]record.Move{stay}, "stayed 4 4 by worker: the slowest worker computes 10 ms of a step, 9 ms if " +
			"shards could be divided"},
		{[]record.Move{stay, move}, "moved once, by worker from 4 4 to 6 2, last before step 31: the " +
			"slowest worker computes 20 ms of a step, 18 ms if shards could be divided"},
	} {
		if got := compare.MovesText(c.moves); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	growth := []record.Growth{{Epochs: 1, From: 32, To: 64, Noise: 100},
		{Epochs: 2, From: 64, To: 64, Noise: record.Number(math.NaN())}}
	for n, want := range map[int]string{0: "",
		1: "grew from 32 to 64 after epoch 1: the gradient noise scale was 100 samples at last",
		2: "grew from 32 to 64 after epoch 1: no gradient showed in the noise at last"} {
		if got := compare.GrowthText(growth[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
