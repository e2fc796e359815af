package strategy

import "lockstep/gradsync"

// gradients describes the strategies whose workers exchange gradients as equals.
func gradients() []Strategy {
	const rebalance = "rebalance"
	return []Strategy{
		{Name: gradsync.GatherScatter, Exchange: Gradients, IsCompared: true, Colour: 2, Algorithm: "gather",
			Takes: []string{rebalance}, Ways: []string{gradsync.GatherScatter},
			Usage: "rank 0 gathers and adds the gradients after the backward pass, and scatters the sum"},
		{Name: gradsync.AllReduce, Exchange: Gradients, IsCompared: true, Colour: 3,
			Takes: []string{"algorithm", rebalance},
			Ways:  []string{gradsync.AllReduce, gradsync.AllReduce + ":" + rebalance},
			Usage: "gradients are all-reduced after the backward pass, one parameter at a time"},
		{Name: DDP, Exchange: Gradients, IsCompared: true, Colour: 4,
			Takes: []string{"algorithm", "bucket", "overlap-forward", "shard-optimizer",
				rebalance},
			Ways:  []string{DDP, DDP + ":overlap-forward", DDP + ":" + rebalance},
			Usage: "gradients are all-reduced in buckets during the backward pass"},
	}
}
