package check_test

import (
	"fmt"
	"log"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/check"
	"lockstep/tensor"
)

// A weight that is not finite is found at the op that reads it first.
func Example() {
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	checked := check.New(graph.NewHost(cpu))

	g := graph.New()
	w := g.Parameter(graph.Param{Name: "fc.weight", Shape: tensor.Shape{2, 1}})
	y := graph.Linear(g.Input("x", tensor.Shape{1, 2}), w, nil)
	p, err := graph.Compile(g, checked, graph.Options{Logits: y})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	v := graph.NewVariables(p)
	if err := p.Attach(v); err != nil {
		log.Fatal(err)
	}
	zero := float32(0)
	v.Weights[1] = 1 / zero
	p.Input("x").SetFloats([]float32{3, 4})
	p.Forward()
	fmt.Println(checked.Err())
	// Output: linear of fc, forward: input 1 is +Inf at 1
}
