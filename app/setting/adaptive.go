package setting

// adaptiveShards is the least default number of shards with AdaptiveBatch: the noise scale is estimated from
// the gradients of shards.
const adaptiveShards = 4

// IsAdaptive reports whether the batch grows with the gradient noise scale.
func (c Config) IsAdaptive() bool { return c.AdaptiveBatch > 0 && !c.EvalOnly }

// MostBatch returns the largest batch of a step; 0 if it does not grow.
func (c Config) MostBatch() int {
	if !c.IsAdaptive() {
		return 0
	}
	return c.AdaptiveBatch
}

// RateOf returns the learning rate for batches of so many samples.
func (c Config) RateOf(batch int) float64 { return c.ScaleLR.Apply(c.Optimizer.LR, batch) }

// adaptiveProblems adds the problems of AdaptiveBatch.
func (c Config) adaptiveProblems(add adder) {
	base, shards := c.StepBatch(), c.StepShards()
	switch {
	case !c.IsAdaptive():
	case !c.takes("adaptive-batch"):
		add("adaptive-batch", "%s", c.notTaken("adaptive-batch"))
	case c.Epochs == 0:
		add("adaptive-batch", "the batch changes between epochs; give the length in --epochs")
	case c.AdaptiveBatch < 2*base:
		add("adaptive-batch", "the batch of %d grows by doubling, which %d does not allow; want at least %d",
			base, c.AdaptiveBatch, 2*base)
	case shards < 2:
		add("adaptive-batch", "the noise is estimated from several shards; want at least --shards 2")
	case c.AdaptiveBatch/base*shards > maxShards:
		add("adaptive-batch", "shards keep their size, so %d samples would make %d shards, want at most %d",
			c.AdaptiveBatch, c.AdaptiveBatch/base*shards, maxShards)
	case c.ShardOptimizer && c.Workers > 1 || c.IsLate():
		add("adaptive-batch", "needs the norm of the whole gradient before the update, which neither "+
			"--shard-optimizer nor --overlap-forward has")
	case !c.GradientWire().IsFixed():
		add("adaptive-batch", "is not for --wire %s, which holds back gradients by shards or is not decided "+
			"yet", c.Wire)
	case c.Lookahead.Power > 0:
		add("adaptive-batch", "--lookahead %s wants to know the number of steps", c.Lookahead)
	}
}
