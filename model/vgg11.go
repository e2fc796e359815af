package model

import (
	"lockstep/graph"
	"lockstep/nn"
)

// vgg11 is configuration A of Simonyan and Zisserman 2014 (arXiv 1409.1556) with batch norm, and a
// single linear layer for small maps. Layers are numbered as in torchvision's vgg11_bn.
func vgg11(x *graph.Node, classes int) *graph.Node {
	const pool = 0
	var features nn.Sequential
	plan := []int{64, pool, 128, pool, 256, 256, pool, 512, 512, pool, 512, 512, pool}
	for _, channels := range plan {
		if channels == pool {
			features = append(features, nn.MaxPool{Size: 2})
			continue
		}
		features = append(features,
			nn.Conv{Out: channels, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{})
	}
	return nn.Linear{Out: classes, IsHead: true}.Apply("classifier", features.Apply("features", x))
}
