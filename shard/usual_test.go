package shard_test

import (
	"testing"

	"lockstep/shard"
)

// By default 1, 2 and 4 workers have the same shards where the batch is large enough; others have one each.
func TestUsualShards(t *testing.T) {
	for _, test := range []struct{ batch, least, workers, want int }{
		{64, 8, 1, 4}, {64, 8, 2, 4}, {64, 8, 4, 4}, {64, 8, 3, 3}, {64, 8, 8, 8}, {32, 8, 1, 4},
		{31, 8, 1, 2},
		{15, 8, 1, 1}, {15, 8, 2, 2}, {128, 32, 4, 4}, {127, 32, 2, 2}, {127, 32, 4, 4}, {63, 32, 1, 1},
	} {
		if got := shard.Usual(test.batch, test.least, test.workers); got != test.want {
			t.Errorf("batch %d, at least %d, %d workers: %d shards, want %d", test.batch, test.least,
				test.workers, got, test.want)
		}
	}
}
