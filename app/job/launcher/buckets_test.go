package launcher_test

import (
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/optim"
)

// Gradients that come behind the next forward pass change no bit, whatever the update, however many buckets
// there are and in whatever order they come; a worker without samples in a step takes part.
func TestLateGradientsChangeNoResult(t *testing.T) {
	skipIfShort(t)
	for i, change := range []func(c *setting.Config){
		func(c *setting.Config) {},
		func(c *setting.Config) { c.Optimizer.Name, c.Bucket = "adamw", 4096 },
		func(c *setting.Config) { c.Optimizer.Name, c.Bucket, c.Link = "lamb", 4096, "shm" },
		func(c *setting.Config) { c.Optimizer.Name, c.Wire = "muon", "zstd" },
		func(c *setting.Config) {
			c.EMA, c.Lookahead, c.Bucket = 0.9, optim.LookaheadConfig{Every: 2, Alpha: 0.5}, 1<<16
		},
	} {
		c := short(t)
		c.Steps, c.Epochs, c.Shards, c.LimitTrain = 25, 0, 6, 99 // the last batch of each epoch has 3 samples
		change(&c)
		c.Link, c.Wire = "local", "fp32"
		want := run(t, c, launcher.Options{})
		c.Workers, c.Link, c.OverlapForward, c.Out = 2+i%3, "local", true, t.TempDir()+"/run"
		change(&c)
		s := run(t, c, launcher.Options{})
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Loss != want.Loss {
			t.Errorf("%s, %d workers: parameters %s, loss %v, want %s, %v", c.Optimizer.Name, c.Workers,
				s.ParameterSHA256, s.Loss, want.ParameterSHA256, want.Loss)
		}
	}
}
