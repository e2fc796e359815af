package graph

// FillOp sets every element of its result to Value. It has no inputs.
type FillOp struct {
	Value float32
	typ   Type
}

func (FillOp) name() string { return "fill" }

func (o FillOp) infer([]Type) ([]Type, error) { return []Type{o.typ}, nil }

func (FillOp) cost(in, out []Type) Cost { return cost(0, in, out) }

func (o FillOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Fill(a.Out[0].F, o.Value) }}
}
