package graph

// ColumnSumsOp adds dy over all axes but the last: a bias's gradient.
type ColumnSumsOp struct{}

func (ColumnSumsOp) name() string { return "column-sums" }

func (ColumnSumsOp) isRowwise() {}

func (ColumnSumsOp) infer(in []Type) ([]Type, error) {
	return []Type{float(lastAxis(in[0]))}, nil
}

// lastAxis returns the length of the innermost axis.
func lastAxis(t Type) int { return t.Shape[len(t.Shape)-1] }

func (ColumnSumsOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (ColumnSumsOp) host(h *Host, in, _ []Type) Kernel {
	cols := lastAxis(in[0])
	sums := h.rows.NewColumnSums(in[0].Shape.Elems()/cols, cols)
	return Kernel{Run: func(a *Args) {
		sums.Resize(len(a.In[0].F) / cols)
		sums.Run(a.Out[0].F, a.In[0].F)
	}}
}
