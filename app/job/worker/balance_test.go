package worker

import (
	"testing"

	"lockstep/shard"
	"lockstep/train"
)

// The log says what moved and why.
func TestTextsOfMoves(t *testing.T) {
	for _, c := range []struct {
		move train.Move
		want string
	}{
		{train.Move{Step: 31, From: []int{4, 4}, To: []int{6, 2}, Before: 0.012, After: 0.006, Best: 0.006,
			Ideal: 0.006},
			"step 31: shards move, by worker from [4 4] to [6 2]: a shard takes [1 3] ms, the slowest " +
				"worker 12 ms before, 6 ms from now on, 6 ms if shards could be divided"},
		{train.Move{Step: 10, From: []int{1, 1}, To: []int{1, 1}, Before: 0.003, After: 0.003, Best: 0.003,
			Ideal: 0.0015},
			"step 10: shards stay, by worker [1 1]: a shard takes [1 3] ms, the slowest worker 3 ms " +
				"before, 3 ms from now on, 1.5 ms if shards could be divided"},
	} {
		c.move.Speeds = []shard.Speed{{Each: 0.001}, {Each: 0.003}}
		if got := moveText(&c.move); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
