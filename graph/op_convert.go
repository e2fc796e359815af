package graph

import "lockstep/tensor"

// ConvertOp copies its input to a result of type To, rounded to the nearest value, to even if two are as
// near. Compile adds it for executors that keep maps as bfloat16.
type ConvertOp struct{ To tensor.DType }

func (ConvertOp) name() string { return "convert" }

func (ConvertOp) isRowwise() {}

func (o ConvertOp) infer(in []Type) ([]Type, error) {
	t := in[0]
	t.DType = o.To
	return []Type{t}, nil
}

func (ConvertOp) cost(in, out []Type) Cost { return cost(0, in, out) }
