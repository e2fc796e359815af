package onnx_test

import (
	"fmt"
	"log"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

func ExampleOpen() {
	m, err := onnx.Open("testdata/mobile-old.onnx")
	if err != nil {
		log.Fatal(err)
	}
	g := graph.New()
	logits, err := m.Build(g.Input("images", append(tensor.Shape{32}, m.Input()...)), onnx.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Input(), logits.Shape(), len(g.Params()))
	// Output: [12, 12, 3] [32, 5] 15
}
