package infer_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/graph"
	"lockstep/infer"
	"lockstep/model"
	"lockstep/tensor"
)

func ExamplePredictor_Predict() {
	network, err := model.Named("lenet", 10, tensor.Shape{32, 32, 3})
	if err != nil {
		log.Fatal(err)
	}
	p, err := infer.New(infer.Config{Network: network, Load: func(v *graph.Variables) error {
		v.Initialize(1) // or checkpoint.Load
		return nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	image := infer.Input{Values: make([]float32, 32*32*3)}
	logits, err := p.Predict(context.Background(), []infer.Input{image, image}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(logits), len(p.Rank(logits[:10], 3, nil)))
	// Output: 20 3
}
