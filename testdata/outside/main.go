// This program trains a network of its own on a data set of its own with all of Lockstep's commands.
package main

import (
	"context"

	"lockstep"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/nn"
	"lockstep/tensor"
)

// mynet is a stem, a residual block and a linear layer.
func mynet(x *graph.Node, classes int) *graph.Node {
	conv := nn.Conv{Out: 16, Size: 3, Pad: 1}
	x = nn.Sequential{conv, nn.BatchNorm{}, nn.ReLU{}, nn.MaxPool{Size: 2}}.Apply("stem", x)
	x = graph.ReLU(graph.Add(x, nn.Sequential{conv, nn.BatchNorm{}}.Apply("block", x)))
	return nn.Linear{Out: classes}.Apply("head", graph.GlobalAvgPool(x))
}

// stripes are images of horizontal and of vertical stripes.
func stripes(context.Context, data.Options) (train, test *data.Set, err error) {
	return striped(200, 0), striped(50, 200), nil
}

func striped(num, first int) *data.Set {
	const side = 12
	s := &data.Set{Name: "stripes", Classes: []string{"horizontal", "vertical"}, Generated: true,
		Source: "generated", Shape: tensor.Shape{side, side, 1}, Mean: []float32{0.5}, Std: []float32{0.5}}
	for i := first; i < first+num; i++ {
		class := i % 2
		s.Labels = append(s.Labels, int32(class))
		for at := range side * side {
			line := []int{at / side, at % side}[class]
			s.Pixels = append(s.Pixels, byte((line+i)/2%2*(100+i%100)))
		}
	}
	return s
}

func main() {
	lockstep.Main(lockstep.Model("mynet", mynet), lockstep.Dataset("stripes", stripes))
}
