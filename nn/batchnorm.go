package nn

import (
	"lockstep/graph"
	"lockstep/tensor"
)

// BatchNorm normalises each channel over the batch, after PyTorch's BatchNorm2d: parameters weight
// (1) and bias (0), states running_mean (0) and running_var (1), all [C].
type BatchNorm struct {
	Eps      float32 // 0 means 1e-5
	Momentum float64 // of the running statistics; 0 means 0.1
}

// Apply implements Layer.
func (l BatchNorm) Apply(name string, x *graph.Node) *graph.Node {
	if l.Eps == 0 {
		l.Eps = 1e-5
	}
	if l.Momentum == 0 {
		l.Momentum = 0.1
	}
	g := x.Graph()
	c := tensor.Shape{features(x.Shape(), len(x.Shape())-1)}
	param := func(part string, start float32) *graph.Node {
		init := graph.Constant{Value: start}
		return g.Parameter(graph.Param{Name: name + part, Shape: c, Init: init, Role: graph.RoleBias})
	}
	state := func(part string, start float32) *graph.Node {
		s := graph.State{Name: name + part, Shape: c, Momentum: l.Momentum, Initial: start}
		return g.State(s)
	}
	return graph.BatchNorm(x, param(".weight", 1), param(".bias", 0),
		state(".running_mean", 0), state(".running_var", 1), l.Eps)
}
