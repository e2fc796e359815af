package setting

import "lockstep/comm"

// bucketProblems adds the problems of TuneBucket.
func (c Config) bucketProblems(add adder) {
	switch {
	case !c.TuneBucket || c.Workers == 1:
	case !c.takes("tune-bucket"):
		add("tune-bucket", "%s", c.notTaken("tune-bucket"))
	case c.ShardOptimizer:
		add("tune-bucket", "shares of --shard-optimizer go by the buckets")
	case c.HoldsBack():
		add("tune-bucket", "what --wire %s holds back goes by the buckets", c.Wire)
	case c.GradientWire().IsAuto() || c.GradientWire().IsLossy():
		add("tune-bucket", "changes no result, but with --wire %s the sums would depend on the size that "+
			"it finds; want a --bucket", c.Wire)
	case !comm.IsExact(c.Algorithm) && c.Algorithm != auto:
		add("tune-bucket", "changes no result, but with --algorithm %s the sums would depend on the size "+
			"that it finds; want a --bucket", c.Algorithm)
	}
}

// IsLate reports whether gradients are exchanged during the next forward pass.
func (c Config) IsLate() bool { return c.OverlapForward && c.Workers > 1 && !c.EvalOnly }

// overlapProblems adds the problems of OverlapForward.
func (c Config) overlapProblems(add adder) {
	switch {
	case !c.IsLate():
	case !c.takes("overlap-forward"):
		add("overlap-forward", "%s", c.notTaken("overlap-forward"))
	case c.Clip > 0:
		add("overlap-forward", "no weight can change before --clip has the norm of the whole gradient")
	case c.ShardOptimizer:
		add("overlap-forward", "--shard-optimizer has the weights come behind the next forward pass already")
	case c.TuneBucket:
		add("overlap-forward", "--tune-bucket times steps that end with their exchange")
	case !c.GradientWire().IsFixed():
		add("overlap-forward", "is not for --wire %s, which holds back gradients or is not decided yet",
			c.Wire)
	}
}

// HoldsBack reports whether workers keep residuals of error feedback.
func (c Config) HoldsBack() bool {
	return c.GradientWire().HasResiduals() && c.Workers > 1 && !c.IsIsolated()
}

// IsSharded reports whether each worker updates only its shard of the weights.
func (c Config) IsSharded() bool {
	return c.ShardOptimizer && c.Workers > 1 && !c.EvalOnly
}

// IsTuning reports whether the all-reduce is chosen by measuring.
func (c Config) IsTuning() bool { return c.Algorithm == auto && c.takes("algorithm") }

// IsIsolated reports whether workers never exchange anything.
func (c Config) IsIsolated() bool { return c.strategy().IsFloor }
