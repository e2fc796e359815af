package lockstep_test

import (
	"context"
	"fmt"
	"log"

	"lockstep"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/nn"
)

// A network of one's own, trained by two workers on generated digits.
func ExampleTrain() {
	training, test, err := data.Load(context.Background(), "glyphs",
		data.Options{TrainSize: 600, TestSize: 100})
	if err != nil {
		log.Fatal(err)
	}
	result, err := lockstep.Train(context.Background(), lockstep.Config{
		Model: func(x *graph.Node, classes int) *graph.Node {
			x = nn.Sequential{nn.Conv{Out: 8, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{},
				nn.MaxPool{Size: 4}}.Apply("stem", x)
			return nn.Linear{Out: classes, IsHead: true}.Apply("head", x)
		},
		Train: training, Test: test, Workers: 2, Epochs: 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	first, last := result.Losses[0], result.Losses[len(result.Losses)-1]
	fmt.Println(len(result.Losses), "steps; the loss falls:", last < first)
	// Output: 20 steps; the loss falls: true
}

// The main function of a program with a network and a data set of its own: every command knows both names.
func ExampleMain() {
	tiny := func(x *graph.Node, classes int) *graph.Node {
		x = nn.Sequential{nn.Conv{Out: 8, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{}}.Apply("stem", x)
		return nn.Linear{Out: classes}.Apply("head", graph.GlobalAvgPool(x))
	}
	digits := func(ctx context.Context, o data.Options) (train, test *data.Set, err error) {
		return data.Load(ctx, "glyphs", o)
	}
	lockstep.Main(lockstep.Model("tiny", tiny), lockstep.Dataset("digits", digits))
}
