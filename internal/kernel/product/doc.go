// Package product multiplies matrices.
//
// On returns the kernels on a CPU, and NewConv the plan of a convolution. A linear layer is a convolution
// too. A plan holds everything that depends on the shape alone; its calls take their operands and their
// scratch from the caller and do not allocate. Small multiplies matrices that fit the cache, on one thread.
//
// Layouts: activations [N, H, W, C], convolution weights [R, S, C, K], a linear layer's weights [C, K],
// all float32 without gaps. N batch, H W height and width, C input channels, K output channels, R S
// filter. Nothing need be aligned.
//
// Heavy work is done by two loops. The indirect product (gather.go) serves convolutions, their gradient of
// the data, and linear layers: its rows are found through a table of offsets, so no image is unfolded, and
// on maps up to 8x8 taps that fall on padding are left out. The sum of outer products (outer.go) serves the
// gradient of the weights. Unless compute.Config.Math is Exact, Winograd's algorithm (winograd.go) turns
// some 3x3 convolutions into matrix products of the same two loops, with fewer than half as many
// multiplications. If it is Fast, it does so at stride 2 with some 60 % of them, and Strassen's algorithm
// (strassen.go) computes large linear layers and convolutions of one pixel with seven eighths, those with a
// stride too, whose pixels are copied side by side first (strided.go).
//
// # Images and batches
//
// Bits depend on the whole shape, N included. The gradient of the weights is a sum over the batch. For y
// and dx, three choices depend on N: whether to use Winograd's algorithm (winogradForms), Strassen's
// (strassenRows), and with products of parts whether to use them (usesSplit). An image of finite numbers gets
// the same bits in every batch for which all choices are the same; by Strassen's algorithm only if its number
// of pixels is even, as its first or last pixel is paired with one of a neighbour else. Everything else that
// depends on N, such as an image in each lane, several images in a tile, threads and the blocks in
// memory, changes no bit. So a result that must not depend on the batches, such as an evaluation, needs
// batches of the same sizes. TestImageBitsByBatch checks this.
//
// # Numbers
//
// docs/design/0047 says of each constant that decides how a product is computed what measured it.
//
// # Errors
//
// Calls panic on slices or shapes that do not fit, as these are bugs of the caller: "kernel: conv forward:
// len(x)=1, want 96".
package product
