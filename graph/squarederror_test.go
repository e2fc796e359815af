package graph_test

import (
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// x is the parameter of a linear layer of ones, so its gradient is the error's derivative.
func TestSquaredError(t *testing.T) {
	g := graph.New()
	w := g.Parameter(graph.Param{Name: "w", Shape: tensor.Shape{1, 2}, Init: graph.Constant{Value: 3}})
	y := graph.Linear(g.Input("ones", tensor.Shape{2, 1}), w, nil)
	loss := graph.SquaredError(y, g.Input("targets", tensor.Shape{2, 2}))
	p, v := start(t, g, compute.Best(), graph.Options{Loss: loss, Logits: y, Train: true})
	v.Initialize(1)
	p.Input("ones").SetFloats([]float32{1, 1})
	p.Input("targets").SetFloats([]float32{1, 3, 2, 7}) // errors 2, 0, 1, -4
	gradient := v.NewGradient()
	p.SetGradients(gradient)
	p.Forward()
	p.Backward(nil)
	if p.Loss() != (4+0)/2.0+(1+16)/2.0 || !slices.Equal(gradient[:2], []float32{2 + 1, 0 - 4}) {
		t.Errorf("loss %v, gradient %v", p.Loss(), gradient[:2])
	}
	g = graph.New()
	graph.SquaredError(g.Input("x", tensor.Shape{2, 2}), g.Input("y", tensor.Shape{2, 1}))
	if g.Err() == nil {
		t.Error("shapes that differ: no error")
	}
}
