package graph_test

import (
	"fmt"
	"log"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// A graph is built from nodes, compiled into a program, attached to weights and run.
func Example() {
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	g := graph.New()
	x := g.Input("images", tensor.Shape{2, 1, 1, 3})
	w := g.Parameter(graph.Param{Name: "weight", Shape: tensor.Shape{3, 1}, Init: graph.Constant{Value: 2}})
	y := graph.Linear(graph.Flatten(x), w, nil)
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: y})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		log.Fatal(err)
	}
	p.Input("images").SetFloats([]float32{1, 2, 3, 4, 5, 6})
	p.Forward()
	fmt.Println(p.Logits(), p.FLOPs(), "FLOP")
	// Output: [12 30] 12 FLOP
}
