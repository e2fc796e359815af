// Package product multiplies matrices.
//
// On gives the kernels on a CPU, and NewConv the plan of a convolution, which a linear layer is as well. A
// plan
// holds all that follows from a shape; its calls take their operands and their scratch from the caller and do
// not allocate. Small multiplies matrices that fit the cache, on one thread.
//
// Layouts: activations [N, H, W, C], convolution weights [R, S, C, K], a linear layer's weights [C, K],
// all float32 without gaps. N batch, H W height and width, C input channels, K output channels, R S
// filter. Nothing need be aligned.
//
// Heavy work is done by two loops. The indirect product (gather.go) serves convolutions, their gradient
// of the data, and linear layers: its rows are found through a table of offsets, so no image is
// unfolded, and on maps up to 8x8 taps that fall on padding are left out. The sum of outer products
// (outer.go) serves the gradient of the weights. Of 3x3 convolutions Winograd's algorithm (winograd.go)
// leaves matrix products of the same two loops, fewer than half as many, unless compute.Config.Math is Exact.
//
// # Errors
//
// Calls panic on slices or shapes that do not fit, as these are bugs of the caller: "kernel: conv forward:
// len(x)=1, want 96".
package product
