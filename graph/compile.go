package graph

import (
	"errors"
	"fmt"
)

// Options say what to compile a graph into.
type Options struct {
	// Loss holds one loss per sample, [N]; nil for a program that only computes logits.
	Loss *Node
	// Logits holds the network's output for each sample, [N, K], such as the scores of K classes; nil if it
	// is not wanted.
	Logits *Node
	// Train compiles a backward pass and lets batch norm use the batch's own statistics.
	Train bool
	// MemoryLimit bounds the bytes of a training program's intermediate values. To stay within it, cheap
	// values are recomputed in the backward pass instead of kept (activation checkpointing); the results
	// are the same bits. If recomputing cannot reach the limit, the program exceeds it. 0 means no limit.
	MemoryLimit int64
	// Frozen reports whether a parameter is frozen, as by requires_grad=False in PyTorch; nil means that
	// none is. The gradient of a frozen parameter is zero, and ops that only such gradients need are
	// dropped. The other gradients have the same bits, in the same order.
	Frozen func(Param) bool
	// Arena is where intermediate values live; nil gives the program an arena of its own.
	Arena *Arena
	// Kept says that parameters and gradients lie in the executor's memory, where Program.Keep says. It is
	// for executors that are not in place.
	Kept bool
	// IsHalted ends a pass between two ops, from the first before which it reports true; nil: no pass ends
	// early. The results of such a pass, and those of a backward pass behind it, are of no use.
	IsHalted func() bool
	// Constants are what a program for inference makes of weights that do not change: batch norm, and the
	// addition of a residual, become parts of the convolution in front, which rounds otherwise, and weights
	// are laid out once as kernels read them. They are those of the time of compilation. Programs of one
	// network share them; nil: weights may change. Only their own variables can be attached, and only an
	// executor in place computes with them.
	Constants *Constants
}

// code is a graph while it is compiled: lowered, with its roots named.
type code struct {
	*Graph
	loss, logits *Node
	gradients    []*Node  // by parameter number; nil in inference
	reports      []*Node  // by state number, the batch statistic; nil in inference
	frozen       []bool   // by parameter number
	unread       []string // names of the inputs that the roots do not depend on
	known        *Constants
	constants    []constant
	isLate       bool // losses and logits are read at the end of the backward pass, not before it
}

// Compile compiles the values of g that o names into a program that ex runs. It returns g's first build
// error, if there was one. g is not changed and can be compiled again.
func Compile(g *Graph, ex Executor, o Options) (*Program, error) {
	return compile(g, ex, o, passes, arrange)
}

// compile is Compile with given passes and a given memory planner.
func compile(g *Graph, ex Executor, o Options, passes []pass, arrange planner) (*Program, error) {
	if g.err != nil {
		return nil, g.err
	}
	if err := o.validate(g); err != nil {
		return nil, err
	}
	if o.Constants != nil && (o.Train || !ex.InPlace()) {
		return nil, errors.New("graph: compile: constants are for inference in place")
	}
	c := lower(g, o)
	c.known = o.Constants
	c.isLate = !ex.InPlace()
	for i, statistic := range c.reports {
		if statistic == nil {
			return nil, fmt.Errorf("graph: compile: the loss does not depend on state %s",
				c.states[i].Name)
		}
	}
	if o.Train {
		if err := differentiate(c); err != nil {
			return nil, err
		}
	}
	for _, p := range passes {
		p.rewrite(c)
	}
	if ex.InPlace() {
		foldSlope(c) // the kernels of other executors have no such results
	}
	if n, ok := ex.(narrowing); ok && n.KeepsBF16() {
		narrow(c)
	}
	if c.err != nil {
		return nil, c.err
	}
	return assemble(c, ex, o, arrange)
}

func (o Options) validate(g *Graph) error {
	switch {
	case o.Loss == nil && o.Logits == nil:
		return errors.New("graph: compile: neither loss nor logits asked for")
	case o.Train && o.Loss == nil:
		return errors.New("graph: compile: training needs a loss")
	case o.Loss != nil && o.Loss.graph != g, o.Logits != nil && o.Logits.graph != g:
		return errors.New("graph: compile: loss or logits belong to another graph")
	case o.Loss != nil && len(o.Loss.typ.Shape) != 1:
		return fmt.Errorf("graph: compile: loss has shape %v, want one value per sample",
			o.Loss.typ.Shape)
	case o.Logits != nil && len(o.Logits.typ.Shape) != 2:
		return fmt.Errorf("graph: compile: logits have shape %v, want [samples, values]",
			o.Logits.typ.Shape)
	}
	return nil
}
