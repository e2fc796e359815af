package model

import (
	"strconv"

	"lockstep/graph"
	"lockstep/nn"
	"lockstep/tensor"
)

// resnet20 and resnet56 are the networks for CIFAR of He et al. 2015 (arXiv 1512.03385), section
// 4.2, with 3 and 9 blocks per stage.
func resnet20(x *graph.Node, classes int) *graph.Node { return smallResNet(x, classes, 3) }
func resnet56(x *graph.Node, classes int) *graph.Node { return smallResNet(x, classes, 9) }

// smallResNet has three stages of that many blocks of two 3x3 convolutions, with 16, 32 and 64
// channels, and shortcuts without parameters. The names are those of the usual PyTorch
// implementation, pytorch_resnet_cifar10.
func smallResNet(x *graph.Node, classes, blocks int) *graph.Node {
	channels := 16
	x = graph.ReLU(convNorm("", "1", x, nn.Conv{Out: channels, Size: 3, Pad: 1}))
	for stage := 1; stage <= 3; stage++ {
		for block := range blocks {
			name := blockName(stage, block)
			if stage == 1 || block > 0 {
				x = basicBlock(name, x, x, channels, 1)
				continue
			}
			// Every second pixel, and zeros for the channels that the input lacks.
			channels *= 2
			shortcut := graph.Subsample(x, 2, channels/4, channels/4)
			x = basicBlock(name, x, shortcut, channels, 2)
		}
	}
	return nn.Linear{Out: classes, IsHead: true}.Apply("linear", graph.GlobalAvgPool(x))
}

// basicBlock adds two convolutions of x to the shortcut.
func basicBlock(name string, x, shortcut *graph.Node, channels, stride int) *graph.Node {
	y := graph.ReLU(convNorm(name, "1", x,
		nn.Conv{Out: channels, Size: 3, Stride: stride, Pad: 1}))
	y = convNorm(name, "2", y, nn.Conv{Out: channels, Size: 3, Pad: 1})
	return graph.ReLU(graph.Add(y, shortcut))
}

// largestSmallImage is the size, in pixels, up to which resnet50 has the stem for CIFAR.
const largestSmallImage = 64

// resnet50 is torchvision's version 1.5, with the stride of a block in its 3x3 convolution. Images
// larger than 64 pixels have the stem for ImageNet, 7x7 with stride 2 and a max-pool; smaller ones
// the stem for CIFAR, 3x3 with stride 1.
func resnet50(x *graph.Node, classes int) *graph.Node {
	stem := StemCIFAR
	if s := x.Shape(); len(s) == 4 && max(s[1], s[2]) > largestSmallImage {
		stem = StemImageNet
	}
	return resnet50From(stem, x, classes)
}

// The stems of resnet50; StemAuto selects by the size of the images.
const (
	StemAuto     = "auto"
	StemCIFAR    = "cifar"
	StemImageNet = "imagenet"
)

// Stems lists the stems.
func Stems() []string { return []string{StemAuto, StemCIFAR, StemImageNet} }

// StemFilters is the name of the filters of resnet50's stem.
const StemFilters = "conv1.weight"

// StemOf returns the one of Stems whose filters have this shape, [output channels, input channels, height,
// width]; StemAuto if n has no choice of stems, or none is like that.
func (n Network) StemOf(filters tensor.Shape) string {
	switch {
	case n.Name != "resnet50" || len(filters) != 4:
	case filters[2] == 7:
		return StemImageNet
	case filters[2] == 3:
		return StemCIFAR
	}
	return StemAuto
}

// WithStem returns resnet50 with one of Stems. Any other network has one stem and is returned
// unchanged. It returns an error if the images are too small.
func (n Network) WithStem(stem string) (Network, error) {
	if stem == StemAuto || n.Name != "resnet50" {
		return n, nil
	}
	n.stem = stem
	n.Build = func(x *graph.Node) *graph.Node { return resnet50From(stem, x, n.Classes) }
	trial := graph.New()
	n.Build(n.Samples(trial, 1))
	return n, trial.Err()
}

// resnet50From is resnet50 with the given stem.
func resnet50From(stem string, x *graph.Node, classes int) *graph.Node {
	if stem == StemImageNet {
		x = graph.ReLU(convNorm("", "1", x, nn.Conv{Out: 64, Size: 7, Stride: 2, Pad: 3}))
		x = nn.MaxPool{Size: 3, Stride: 2, Pad: 1}.Apply("", x)
	} else {
		x = graph.ReLU(convNorm("", "1", x, nn.Conv{Out: 64, Size: 3, Pad: 1}))
	}
	for i, blocks := range []int{3, 4, 6, 3} {
		for block := range blocks {
			stride := 1
			if i > 0 && block == 0 {
				stride = 2
			}
			x = bottleneck(blockName(i+1, block), x, 64<<i, stride, block == 0)
		}
	}
	return nn.Linear{Out: classes, IsHead: true}.Apply("fc", graph.GlobalAvgPool(x))
}

// bottleneck adds three convolutions to the shortcut: 1x1 to width channels, 3x3, and 1x1 to four
// times as many channels. The first block of a stage converts its shortcut to that shape with a
// convolution.
func bottleneck(name string, x *graph.Node, width, stride int, isFirst bool) *graph.Node {
	y := graph.ReLU(convNorm(name, "1", x, nn.Conv{Out: width, Size: 1}))
	y = graph.ReLU(convNorm(name, "2", y, nn.Conv{Out: width, Size: 3, Stride: stride, Pad: 1}))
	y = convNorm(name, "3", y, nn.Conv{Out: 4 * width, Size: 1})
	if isFirst {
		down := nn.Conv{Out: 4 * width, Size: 1, Stride: stride, NoBias: true,
			Init: nn.ByFanOut(4*width, 1)}
		x = nn.Sequential{down, nn.BatchNorm{}}.Apply(name+"downsample", x)
	}
	return graph.ReLU(graph.Add(y, x))
}

// convNorm applies a convolution without bias, called conv<number> behind the prefix, and a batch
// norm, called bn<number>.
func convNorm(prefix, number string, x *graph.Node, c nn.Conv) *graph.Node {
	c.NoBias, c.Init = true, nn.ByFanOut(c.Out, c.Size)
	return nn.BatchNorm{}.Apply(prefix+"bn"+number, c.Apply(prefix+"conv"+number, x))
}

// blockName returns the prefix of a block's parameters.
func blockName(stage, block int) string {
	return "layer" + strconv.Itoa(stage) + "." + strconv.Itoa(block) + "."
}
