package graph

// Op is one kind of computation with its settings: a value of one of the types of this package whose names
// end in Op. Each lives in its own file op_<name>.go, which holds the shape rule, the host's kernel, the
// gradient rule and the cost. An [Executor] switches on the type; the fields are the settings.
//
// Besides these methods an op may be [hostOp] (the host can run it), differentiable, a lowerer
// (it turns into other ops when compiled), a view (its result is its first input under another
// shape), overwriting (its first result may take the place of an input) or rowwise (it takes the
// tokens of texts).
type Op interface {
	// name is what errors, costs and traces call the op.
	name() string
	// infer is the shape rule: the types of the results for given inputs, or why they do not fit.
	infer(in []Type) ([]Type, error)
	// cost is the work of one application.
	cost(in, out []Type) Cost
}

// Cost is the work of an op application.
type Cost struct {
	// FLOPs counts additions and multiplications, padded zeros included.
	FLOPs int64
	// Bytes counts each input read once and each result written once.
	Bytes int64
}

// hostOp is an op with a CPU kernel.
type hostOp interface {
	host(h *Host, in, out []Type) Kernel
}

// differentiable is an op with a gradient rule.
type differentiable interface {
	// gradient emits, through b, the gradients of c's inputs for given gradients dy of its results; nil
	// stands for no gradient, in dy and in the result.
	gradient(b *Graph, c *call, dy []*Node) []*Node
}

// lowerer is an op that is expressed by others when compiled.
type lowerer interface {
	lower(l *lowering, in []*Node) []*Node
}

// rowwise is an op that can take ragged inputs: it computes as many rows as its buffers have.
type rowwise interface{ isRowwise() }

// view is an op whose only result holds its first input's elements in the same order.
type view interface{ isView() }

// overwriting is an op whose first result may be written over one of its inputs.
type overwriting interface {
	// overwrites returns the number of that input.
	overwrites() int
}

// cost returns flops together with the traffic of reading in and writing out once.
func cost(flops int64, in, out []Type) Cost {
	c := Cost{FLOPs: flops}
	for _, t := range in {
		c.Bytes += t.Bytes()
	}
	for _, t := range out {
		c.Bytes += t.Bytes()
	}
	return c
}
