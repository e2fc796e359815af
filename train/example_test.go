package train_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// progress prints every fourth step and each evaluation.
type progress struct{}

func (progress) Step(s train.Step) {
	if s.Number%4 == 0 {
		fmt.Printf("epoch %d step %d: %d samples\n", s.Epoch, s.Number, s.Samples)
	}
}

func (progress) Evaluation(e train.Evaluation) {
	fmt.Printf("evaluated on %d images after %v epochs\n", e.Samples, e.Epochs)
}

func ExampleLoop() {
	training, test, err := data.Load(context.Background(), "glyphs",
		data.Options{TrainSize: 200, TestSize: 50})
	if err != nil {
		log.Fatal(err)
	}
	network, err := model.Named("lenet", len(training.Classes), training.Shape)
	if err != nil {
		log.Fatal(err)
	}
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	plan, err := shard.Cut(2, 1) // two virtual shards, one worker
	if err != nil {
		log.Fatal(err)
	}
	loop, err := train.New(train.Config{
		Network: network, Train: training, Test: test,
		Batch: 32, Plan: plan, Epochs: 1, CPU: cpu,
		Optimizer: optim.Config{LR: 0.05, Momentum: 0.9},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loop.Close()
	result, err := loop.Run(context.Background(), progress{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Steps, "steps,", result.Parameters, "parameters")
	// Output:
	// epoch 0 step 0: 32 samples
	// epoch 0 step 4: 32 samples
	// evaluated on 50 images after 1 epochs
	// 7 steps, 53762 parameters
}
