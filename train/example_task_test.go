package train_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/metric"
	"lockstep/model"
	"lockstep/nn"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// signs is a task of one's own: a sample has several yes-or-no targets, +1 or -1. The loss is the squared
// error of the hyperbolic tangent of each output, and an evaluation counts the signs that are right.
func signs() train.Task {
	return train.Task{
		Name: "signs",
		Loss: func(output *graph.Node, t train.Targets) *graph.Node {
			return graph.SquaredError(graph.Tanh(output), t.Values)
		},
		Score: func(output []float32, s *data.Shard) float64 {
			sum := 0.0
			for i, target := range s.Targets {
				d := math.Tanh(float64(output[i])) - float64(target)
				sum += float64(d*d) / 2 // two targets
			}
			return sum
		},
		Metrics: []train.Metric{{Name: "share of signs", Of: func(p *metric.Predictions) float64 {
			right := 0
			for i, target := range p.Targets {
				if p.Outputs[i]*target > 0 {
					right++
				}
			}
			return float64(right) / float64(len(p.Targets))
		}}},
	}
}

// A task of one's own: is a digit even, and is it above 4? The data set says so by two targets in place of
// labels.
func ExampleTask() {
	digits, _, err := data.Load(context.Background(), "glyphs", data.Options{TrainSize: 48, TestSize: 1})
	if err != nil {
		log.Fatal(err)
	}
	set := *digits
	set.Labels, set.Classes, set.NumTargets = nil, nil, 2
	sign := map[bool]float32{true: 1, false: -1}
	for _, digit := range digits.Labels {
		set.Targets = append(set.Targets, sign[digit%2 == 0], sign[digit > 4])
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
		Network: model.Network{Name: "two answers", Input: set.Shape, Classes: 2,
			Build: func(x *graph.Node) *graph.Node {
				x = graph.Tanh(nn.Linear{Out: 32}.Apply("hidden", graph.Flatten(x)))
				return nn.Linear{Out: 2, IsHead: true}.Apply("head", x)
			}},
		Train: &set, Test: &set, Task: signs(),
		Batch: 48, Plan: plan, Steps: 60, CPU: cpu, Optimizer: optim.Config{Name: "adamw", LR: 0.003},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loop.Close()
	result, err := loop.Run(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	figure := result.Test.Metrics[0]
	fmt.Printf("%s: %.2f\n", figure.Name, figure.Value)
	// Output: share of signs: 1.00
}
