package model

import (
	"strconv"

	"lockstep/graph"
	"lockstep/nn"
)

// whitenSamples is how many training images determine the filters of airbench's first layer.
const whitenSamples = 5000

// whitenFilters is the name of the first layer.
const whitenFilters = "whiten"

// airbench is the network of airbench94 (Jordan 2024, arXiv 2404.00498): a 2x2 convolution whose
// filters whiten the training images and should be frozen, three groups of two 3x3 convolutions
// initialised as the identity, and logits divided by nine. The gains of the norms should stay at 1.
// It is for small images; one of 32x32 has maps of 31, 15, 7 and 3 pixels.
func airbench(x *graph.Node, classes int) *graph.Node {
	channels := 1
	if s := x.Shape(); len(s) == 4 {
		channels = s[3]
	}
	x = graph.GELU(nn.Conv{Out: 2 * whitenPatch(channels), Size: whitenSide}.Apply(whitenFilters, x))
	for i, width := range []int{64, 256, 256} {
		name := "group" + strconv.Itoa(i+1)
		x = nn.MaxPool{Size: 2}.Apply("", identityConv(name+".conv1", x, width))
		x = graph.GELU(airbenchNorm(name+".norm1", x))
		x = identityConv(name+".conv2", x, width)
		x = graph.GELU(airbenchNorm(name+".norm2", x))
	}
	x = nn.MaxPool{Size: 3}.Apply("", x)
	return graph.Scale(nn.Linear{Out: classes, NoBias: true, IsHead: true}.Apply("head", x), 1./9)
}

// identityConv is a 3x3 convolution without bias, initialised as the identity.
func identityConv(name string, x *graph.Node, out int) *graph.Node {
	in := 1
	if s := x.Shape(); len(s) == 4 {
		in = s[3]
	}
	return nn.Conv{Out: out, Size: 3, Pad: 1, NoBias: true, Init: nn.ByIdentity(in, 3)}.Apply(name, x)
}

// airbenchNorm is a batch norm with fast running statistics.
func airbenchNorm(name string, x *graph.Node) *graph.Node {
	return nn.BatchNorm{Eps: 1e-12, Momentum: 0.4}.Apply(name, x)
}
