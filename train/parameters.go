package train

import (
	"lockstep/graph"
	"lockstep/optim"
)

// parameters tells an optimizer what lies where in v's weights. A parameter with one axis counts as a bias;
// one with more is an embedding if it is stored in PyTorch's order, which the layers transpose; the last
// of the others, by definition, is the head.
func parameters(v *graph.Variables) []optim.Param {
	params, head := make([]optim.Param, len(v.Params)), -1
	for i, p := range v.Params {
		q := optim.Param{Name: p.Name, Offset: v.Segments[i].Offset, Len: v.Segments[i].Len}
		switch {
		case len(p.Shape) == 1:
			q.Rows, q.Cols = 1, q.Len
		case len(p.Layout.Perm) == 0:
			q.Rows, q.Cols, q.Kind = p.Shape[0], q.Len/p.Shape[0], optim.Table
		default:
			q.Rows, q.Cols, q.Kind = q.Len/p.Shape[0], p.Shape[0], optim.Matrix
			head = i
		}
		params[i] = q
	}
	if head >= 0 {
		params[head].Kind = optim.Head
	}
	return params
}
