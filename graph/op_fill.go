package graph

// fill is a constant tensor.
type fill struct {
	value float32
	typ   Type
}

func (fill) Name() string { return "fill" }

func (o fill) Infer([]Type) ([]Type, error) { return []Type{o.typ}, nil }

func (fill) Cost(in, out []Type) Cost { return cost(0, in, out) }

func (o fill) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Fill(a.Out[0].F, o.value) }}
}
