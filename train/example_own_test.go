package train_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/nn"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// shortcuts is a user's own model: a function from images to logits. Layers add their parameters,
// under the names that a weights file will have; ops are functions. The graph derives the gradient.
func shortcuts(x *graph.Node) *graph.Node {
	stem := nn.Sequential{nn.Conv{Out: 16, Size: 3, Stride: 2, Pad: 1}, nn.BatchNorm{}, nn.ReLU{}}
	x = stem.Apply("stem.", x)
	for _, name := range []string{"block1.", "block2."} {
		y := nn.Conv{Out: 16, Size: 3, Pad: 1, NoBias: true}.Apply(name+"conv", x)
		y = graph.GELU(nn.BatchNorm{}.Apply(name+"norm", y))
		x = graph.Add(x, y) // a shortcut
	}
	x = graph.Flatten(graph.MaxPool(x, 2, 2, 0))
	x = graph.Tanh(nn.Linear{Out: 64}.Apply("hidden", x))
	return nn.Linear{Out: 10, IsHead: true}.Apply("head", x)
}

// losses keeps the loss of every step.
type losses []float64

func (l *losses) Step(s train.Step)           { *l = append(*l, s.Loss) }
func (l *losses) Evaluation(train.Evaluation) {}

// A user's own model trains like the built-in ones: here it memorises 48 images.
func ExampleNew_ownModel() {
	training, _, err := data.Load(context.Background(), "glyphs", data.Options{TrainSize: 48, TestSize: 1})
	if err != nil {
		log.Fatal(err)
	}
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	plan, err := shard.Cut(1, 1)
	if err != nil {
		log.Fatal(err)
	}
	loop, err := train.New(train.Config{
		Network: model.Network{Name: "shortcuts", Input: training.Shape, Classes: 10, Build: shortcuts},
		Train:   training, Batch: 48, Plan: plan, Steps: 40, CPU: cpu,
		Optimizer: optim.Config{Name: "adamw", LR: 0.002},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loop.Close()
	var all losses
	result, err := loop.Run(context.Background(), &all)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d parameters; the loss is less than half of the first: %v\n",
		result.Parameters, all[39] < all[0]/2)
	// Output: 71402 parameters; the loss is less than half of the first: true
}
