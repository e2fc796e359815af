package train

import (
	"lockstep/data"
	"lockstep/graph"
)

// Memory is the memory of a loop, in bytes.
type Memory struct {
	// Arena holds the activations and other intermediate values of the largest program, in each lane.
	Arena int64
	// Variables are parameters, running statistics, gradients, the optimizer's state, and copies
	// that follow the weights: averages and slow weights.
	Variables int64
	// Batches are the samples of the steps being prepared and of the evaluation.
	Batches int64
}

// Total returns the sum.
func (m Memory) Total() int64 { return m.Arena + m.Variables + m.Batches }

// Memory returns the memory of the loop from its first step on, without the data set, which loops
// share. It includes what shards that move here may need at most.
func (l *Loop) Memory() Memory {
	v := l.variables
	buffers, loader := l.most()
	floats := len(v.Weights)*(1+buffers) + len(v.State) + len(l.rows)
	_, shares := l.updater.Optimizer()
	for _, s := range shares {
		floats += s[1] - s[0] // the optimizer works on a copy of the shares
	}
	m := Memory{
		Arena:     l.ArenaBytes(),
		Variables: 4*int64(floats) + l.OptimizerBytes() + l.follow.bytes(),
		Batches:   loader.Bytes(),
	}
	for n := range l.programs.evaluation {
		m.Batches += imageBytes(l.config.Train, n)
	}
	return m
}

// most returns how many buffers of gradients and samples of a step this loop may need in its run.
func (l *Loop) most() (buffers int, loader data.LoaderConfig) {
	c, work := l.config, l.work
	shards, lo, hi := c.Plan.Shards(), work.Lo, work.Hi
	buffers = newStack(lo, hi, shards, l.programs.abreast()).buffers
	if l.mayMove {
		lo, hi = 0, shards-(c.Plan.Workers()-1) // the others have one each
		buffers = mostBuffers(hi, shards) + l.programs.abreast() - 1
	}
	loader = l.loaderConfig(work)
	loader.Lo, loader.Hi = lo, hi
	return max(buffers, len(l.gradients)), loader
}

// OptimizerBytes returns the memory of this worker's optimizer: state and scratch.
func (l *Loop) OptimizerBytes() int64 {
	if rule, _ := l.updater.Optimizer(); rule != nil {
		return rule.Bytes()
	}
	return 0
}

// imageBytes returns the size of n samples in a program's input format.
func imageBytes(s *data.Set, n int) int64 {
	return int64(n) * (graph.Type{Shape: s.Shape}.Bytes() + 4 + 4*int64(s.NumTargets))
}
