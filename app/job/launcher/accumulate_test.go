package launcher_test

import (
	"path/filepath"
	"testing"

	"lockstep/app/job/launcher"
)

// A step of several batches exchanges as much as a step of one: gradients once, and a row of rowBytes for
// each shard where rows are exchanged. Where the shards of a worker are no subtree of the step's shards,
// its gradient is several pieces, and the first half of an all-reduce sends each.
func TestAccumulationExchangesOncePerStep(t *testing.T) {
	const workers, steps, rowBytes = 2, 3, 4 * 7
	sent := func(strategy string, accumulate int) int64 {
		c := short(t)
		c.Strategy, c.Algorithm, c.Workers, c.Link = strategy, "direct", workers, "local"
		c.Batch, c.Shards, c.Accumulate, c.AverageEvery = 4, workers, accumulate, 2
		c.LimitTrain, c.LimitTest, c.Epochs, c.Steps = 4*8*steps+1, 0, 0, steps
		c.Out = filepath.Join(t.TempDir(), "run")
		return run(t, c, launcher.Options{}).BytesSent
	}
	perBatch := int64(steps * (workers - 1) * workers * rowBytes) // rows of all ranks
	served := int64(steps * (1 + workers) * rowBytes)             // one to the server, and all back
	for strategy, rows := range map[string]int64{"gather-scatter": perBatch, "all-reduce": perBatch,
		"ddp": perBatch, "ps": served, "local-sgd": 0, "diloco": 0} {
		want := sent(strategy, 1)
		if got := sent(strategy, 4) - 3*rows; got != want {
			t.Errorf("%s: %d bytes with 4 batches a step, %d with one", strategy, got, want)
		}
		if got := sent(strategy, 3); got > 3*want/2+2*rows+1 {
			t.Errorf("%s: %d bytes with 3 batches a step in two pieces, %d with one", strategy, got, want)
		}
	}
}
