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
// # Images and batches
//
// The shape on which bits depend includes N. The gradient of the weights is a sum over the batch. For y and
// dx two choices of NewConv go by N: whether Winograd's algorithm is used (usesWinograd), and with bf16x6
// or bf16x3 whether products of parts are (usesSplit). An image of finite numbers gets the same bits in
// every batch for which they choose the same. All else that goes by N, such as an image in each lane,
// several images in a tile, threads and the blocks in memory, changes no bit. So a result that must not
// depend on batches, such as an evaluation, needs batches of the same sizes. TestImageBitsByBatch holds
// this.
//
// # Errors
//
// Calls panic on slices or shapes that do not fit, as these are bugs of the caller: "kernel: conv forward:
// len(x)=1, want 96".
package product
