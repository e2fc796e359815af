package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/optim"
)

// What does not go together is refused by name.
func TestSettingsThatDoNotFit(t *testing.T) {
	type config = setting.Config
	type change = func(*config)
	for name, test := range map[string]struct {
		with    change
		refused map[string]change
	}{
		"rebalance": {func(c *config) { c.Workers, c.Rebalance = 2, true }, map[string]change{
			"is for --strategy gather-scatter or all-reduce or ddp, not none": func(c *config) {
				c.Strategy = "none"
			},
			"with --wire bf16 the sums":      func(c *config) { c.Wire = "bf16" },
			"with --wire auto the sums":      func(c *config) { c.Wire = "auto" },
			"with --algorithm ring the sums": func(c *config) { c.Algorithm = "ring" },
		}},
		"diloco": {func(c *config) {
			c.Workers, c.Strategy, c.AverageEvery = 2, "diloco", 5
		}, map[string]change{
			"8 parts cannot take turns in 5 steps": func(c *config) { c.OuterParts = 8 },
			"want at most 4":                       func(c *config) { c.OuterOverlap = 5 },
			"outer-lr: 0 would undo all updates":   func(c *config) { c.OuterLR = 0 },
			"0 is out of range":                    func(c *config) { c.AverageEvery = 0 },
			"ema: follows the weights of one":      func(c *config) { c.EMA = 0.9 },
			"lookahead: moves the weights of workers": func(c *config) {
				c.Lookahead = optim.LookaheadConfig{Every: 5, Alpha: 0.5}
			},
			"groups: --outer-momentum would go on": func(c *config) {
				c.Optimizer.Groups = optim.Groups{{Match: "*.bias", Rate: 1, Steps: 3}}
			},
			`unknown outer-wire "top-k"`: func(c *config) { c.OuterWire = "top-k" },
			`outer-wire: comm: algorithm "ring"`: func(c *config) {
				c.OuterWire, c.Algorithm = "int8", "ring"
			},
			"shard-optimizer: is for": func(c *config) { c.ShardOptimizer = true },
		}},
		"shard-optimizer": {func(c *config) { c.Workers, c.ShardOptimizer = 2, true }, map[string]change{
			"is for --strategy ddp, not all-reduce": func(c *config) { c.Strategy = "all-reduce" },
			"muon needs whole tensors":              func(c *config) { c.Optimizer.Name = "muon" },
			"with --shard-optimizer; leave one out": func(c *config) { c.Clip = 1 },
			"is not for --wire top-k":               func(c *config) { c.Wire = "top-k" },
			"is not for --wire auto":                func(c *config) { c.Wire = "auto" },
			"not by --algorithm ring":               func(c *config) { c.Algorithm = "ring" },
		}},
		"overlap-forward": {func(c *config) { c.Workers, c.OverlapForward = 2, true }, map[string]change{
			"is for --strategy ddp, not all-reduce": func(c *config) { c.Strategy = "all-reduce" },
			"with --overlap-forward; leave one out": func(c *config) { c.Clip = 1 },
			"the next forward pass already":         func(c *config) { c.ShardOptimizer = true },
			"is not for --wire auto":                func(c *config) { c.Wire = "auto" },
		}},
	} {
		for want, change := range test.refused {
			c := setting.Default()
			test.with(&c)
			change(&c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}
