package model_test

import (
	"fmt"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// One step of lenet on a batch of 4, in place of a training loop.
func Example() {
	net, err := model.Named("lenet", 10, tensor.Shape{32, 32, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := graph.New()
	logits := net.Build(g.Input("images", tensor.Shape{4, 32, 32, 3}))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", 4))

	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cpu.Close()
	program, err := graph.Compile(g, graph.NewHost(cpu),
		graph.Options{Loss: loss, Logits: logits, Train: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer program.Close()

	variables := graph.NewVariables(program)
	variables.Initialize(1)
	if err := program.Attach(variables); err != nil {
		fmt.Println(err)
		return
	}
	gradient := variables.NewGradient()
	program.SetGradients(gradient)
	program.Input("images").SetFloats(make([]float32, 4*32*32*3))
	program.Input("labels").SetInts([]int32{0, 1, 2, 3})
	program.Forward()
	program.Backward(nil)
	fmt.Printf("%d parameters, first to be ready: %s\n",
		variables.Count(), variables.Params[variables.Order[0]].Name)
	// Output: 53762 parameters, first to be ready: fc2.bias
}
