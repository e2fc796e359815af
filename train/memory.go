package train

import (
	"lockstep/data"
	"lockstep/graph"
)

// Memory is what a loop takes, in bytes.
type Memory struct {
	// Arena holds the intermediate values of the largest program.
	Arena int64
	// Variables are parameters, running statistics, gradients, the optimizer's state, and what
	// follows the weights: averages, slow copies.
	Variables int64
	// Batches are the samples of the steps in preparation and of the evaluation.
	Batches int64
}

// Total returns the sum.
func (m Memory) Total() int64 { return m.Arena + m.Variables + m.Batches }

// Memory returns what the loop takes from its first step on, without the data set, which it shares.
func (l *Loop) Memory() Memory {
	v := l.variables
	floats := len(v.Weights)*(1+len(l.gradients)) + len(v.State) + len(l.rows)
	_, shares := l.updater.Optimizer()
	for _, s := range shares {
		floats += s[1] - s[0] // the optimizer works on a copy of them
	}
	m := Memory{
		Arena:     l.ArenaBytes(),
		Variables: 4*int64(floats) + l.OptimizerBytes() + l.follow.bytes(),
		Batches:   l.loaderConfig(l.work).Bytes(),
	}
	for n := range l.programs.evaluation {
		m.Batches += imageBytes(l.config.Test, n)
	}
	return m
}

// OptimizerBytes returns what this worker's optimizer keeps and works in.
func (l *Loop) OptimizerBytes() int64 {
	if rule, _ := l.updater.Optimizer(); rule != nil {
		return rule.Bytes()
	}
	return 0
}

// imageBytes returns the size of n samples as a program reads them.
func imageBytes(s *data.Set, n int) int64 {
	return int64(n) * (graph.Type{Shape: s.Shape}.Bytes() + 4)
}
