package launcher_test

import (
	"fmt"
	"testing"

	"lockstep/app/job/launcher"
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
