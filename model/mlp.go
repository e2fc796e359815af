package model

import (
	"lockstep/graph"
	"lockstep/nn"
)

// mlp is the network for vectors of numbers: two hidden layers of 128 units with ReLU, and one of the
// classes.
func mlp(x *graph.Node, classes int) *graph.Node {
	x = graph.ReLU(nn.Linear{Out: 128}.Apply("fc1", x))
	x = graph.ReLU(nn.Linear{Out: 128}.Apply("fc2", x))
	return nn.Linear{Out: classes, IsHead: true}.Apply("fc3", x)
}
