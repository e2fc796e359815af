package launcher_test

import (
	"fmt"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/optim"
)

// One hash for every number of workers, every wire without a loss, and the optimizer sharded or not; shards
// of its state add up to the whole.
func TestOneHashForWorkersWiresAndShards(t *testing.T) {
	rules := []string{"sgd", "adamw"}
	if testing.Short() {
		rules = rules[1:]
	}
	for _, rule := range rules {
		base := short(t)
		base.Shards, base.LimitTrain, base.LimitTest = 6, 90, 0
		base.Optimizer.Name, base.Optimizer.DecayMatrices = rule, true
		base.Optimizer.Groups = optim.Groups{{Match: "fc1.*", Rate: 2, WeightDecay: 0.01},
			{Match: "conv1.bias", Rate: 1, Steps: 3}}
		base.EMA, base.Lookahead = 0.9, optim.LookaheadConfig{Every: 2, Alpha: 0.5}
		want := run(t, base, launcher.Options{})
		for workers := 1; workers <= 6; workers++ {
			for i, wire := range []string{"fp32", "deflate", "zstd"} {
				if i != workers%3 {
					continue // every wire and every number of workers is met
				}
				for _, isSharded := range []bool{false, true} {
					c := base
					c.Workers, c.Wire, c.ShardOptimizer, c.Link = workers, wire, isSharded, "local"
					c.Bucket = 4096 << (10 * i / 2)
					c.Out = t.TempDir() + "/run"
					s := run(t, c, launcher.Options{})
					place := fmt.Sprintf("%s, %d workers, %s, sharded %v", rule, workers, wire, isSharded)
					if s.ParameterSHA256 != want.ParameterSHA256 || s.Loss != want.Loss {
						t.Errorf("%s: parameters %s, want %s", place, s.ParameterSHA256, want.ParameterSHA256)
					}
					var total, most int64
					for _, r := range s.Ranks {
						total, most = total+r.OptimizerBytes, max(most, r.OptimizerBytes)
					}
					if whole := want.Ranks[0].OptimizerBytes; isSharded && (total > whole ||
						total < whole*9/10 || most > whole/int64(workers)+4096) {
						t.Errorf("%s: optimizer's state %d bytes, at most %d in one, of %d", place,
							total, most, whole)
					}
				}
			}
		}
	}
}

// A checkpoint does not say how the optimizer was shared out: the run goes on with or without shares, on
// other workers, and ends with the bits of the undisturbed one.
func TestShardedRunsAreResumed(t *testing.T) {
	skipIfShort(t)
	change := func(workers int, link string, isSharded bool) func(*setting.Config) {
		return func(c *setting.Config) {
			c.Optimizer.Name, c.EMA, c.ShardOptimizer = "adamw", 0.9, isSharded
			c.Workers, c.Link = workers, link
		}
	}
	c := short(t)
	change(1, "local", false)(&c)
	want := run(t, c, launcher.Options{})
	for _, v := range []struct {
		before func(*setting.Config)
		flags  []string
	}{
		{change(3, "local", true), nil},
		{change(3, "local", true), []string{"workers", "2", "link", "shm"}},
		{change(2, "shm", true), []string{"workers", "1"}},
		{change(4, "local", true), []string{"shard-optimizer", "false"}},
		{change(2, "local", false), []string{"shard-optimizer", "true", "workers", "4", "link", "local"}},
	} {
		first := begun(t, 5, v.before)
		s, _, err := resumed(t, first.Out, append(v.flags, "steps", "8")...)
		if err != nil {
			t.Fatalf("%v: %v", v.flags, err)
		}
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps != 5 {
			t.Errorf("%v: parameters %s, want %s", v.flags, s.ParameterSHA256, want.ParameterSHA256)
		}
	}
}
