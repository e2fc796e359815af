package strategy

import "lockstep/gradsync"

// gradients describes the strategies whose workers exchange gradients as equals.
func gradients() []Strategy {
	const rebalance = "rebalance"
	return []Strategy{
		{Name: gradsync.GatherScatter, Exchange: Gradients, IsCompared: true, Colour: 2, Algorithm: "gather",
			Takes: []string{rebalance}, Also: []string{"dataparallel", "gatherbroadcast"},
			Ways:  []Way{{Predict: gatherScatter}},
			Usage: "rank 0 gathers and adds the gradients after the backward pass, and scatters the sum"},
		{Name: gradsync.AllReduce, Exchange: Gradients, IsCompared: true, Colour: 3,
			Takes: []string{"algorithm", rebalance},
			Ways: []Way{{Predict: allReduce},
				{Options: rebalance, IsBalanced: true, Predict: balanced(allReduce)}},
			Usage: "gradients are all-reduced after the backward pass, one parameter at a time"},
		{Name: DDP, Exchange: Gradients, IsCompared: true, Colour: 4,
			Takes: []string{"algorithm", "bucket", "overlap-forward", "shard-optimizer",
				rebalance},
			Also: []string{"distributeddataparallel", "horovod", "bucketed"},
			Ways: []Way{{Predict: bucketed(0)}, {Options: "overlap-forward", Predict: bucketed(1)},
				{Options: rebalance, IsBalanced: true, Predict: balanced(bucketed(0))}},
			Usage: "gradients are all-reduced in buckets during the backward pass"},
	}
}

func gatherScatter(p Probe) Terms {
	t := p.terms()
	bytes := 2 * (p.workers() - 1) * p.Bytes // in, then out of rank 0
	t.BusiestBytes = bytes
	t.Exposed = p.move(bytes, 2) + (p.workers()-1)*p.Bytes*p.Add
	return t
}

func allReduce(p Probe) Terms {
	t := p.terms()
	t.BusiestBytes = 2 * p.reduced()
	t.Exposed = p.move(p.reduced(), 2*p.Tensors) + p.Bytes*p.Add
	return t
}

// bucketed hides the exchange behind the backward pass and a part of the next forward pass.
func bucketed(forward float64) func(p Probe) Terms {
	return func(p Probe) Terms {
		t := p.terms()
		t.BusiestBytes = 2 * p.reduced()
		exchange := p.move(p.reduced(), 2*p.buckets()) + p.Bytes*p.Add
		last := (1 - forward) * exchange / p.buckets()
		t.Exposed = p.beside(p.reduced(), exchange, last, p.Backward+forward*p.Forward)
		return t
	}
}
