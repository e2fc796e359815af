package setting

import "lockstep/comm"

// balancedShards is the default number of shards of each worker with Rebalance: of four workers, one three
// times slower, 5, 5, 5 and 1 of 16 shards take 5, where 4.8 is ideal.
const balancedShards = 4

// BalancedShards returns the default number of shards of a batch for workers with Rebalance.
func BalancedShards(workers, batch int) int {
	return max(workers, min(balancedShards*workers, batch))
}

// IsBalanced reports whether shards move from slow workers to fast ones.
func (c Config) IsBalanced() bool {
	return c.Rebalance && c.Workers > 1 && !c.EvalOnly
}

// balanceProblems adds the problems of Rebalance.
func (c Config) balanceProblems(add adder) {
	switch wire := c.GradientWire(); {
	case !c.IsBalanced():
	case !c.takes("rebalance"):
		add("rebalance", "%s", c.notTaken("rebalance"))
	case wire.IsAuto() || wire.IsLossy():
		add("rebalance", "changes no result, but with --wire %s the sums would depend on who has which "+
			"shards; want a lossless wire", c.Wire)
	case c.takes("algorithm") && !comm.IsExact(c.Algorithm):
		add("rebalance", "changes no result, but the sums of --algorithm %s depend on who has which shards; "+
			"want another", c.Algorithm)
	}
}
