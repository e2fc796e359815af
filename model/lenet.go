package model

import (
	"lockstep/graph"
	"lockstep/nn"
)

// lenet is the small network of the original reports, after LeCun et al. 1998: two 5x5 convolutions
// with pooling, and two linear layers. From 32x32 maps the first linear layer has 784 features.
func lenet(x *graph.Node, classes int) *graph.Node {
	pool := nn.MaxPool{Size: 2}
	x = pool.Apply("", graph.ReLU(nn.Conv{Out: 6, Size: 5}.Apply("conv1", x)))
	x = pool.Apply("", graph.ReLU(nn.Conv{Out: 16, Size: 5, Pad: 2}.Apply("conv2", x)))
	x = graph.ReLU(nn.Linear{Out: 64}.Apply("fc1", x))
	return nn.Linear{Out: classes, IsHead: true}.Apply("fc2", x)
}
