// Package kernel computes on raw slices.
//
// Open gives a CPU: an implementation of the inner loops (ISA) with a fixed set of worker threads. From
// it come plans, which hold all that follows from a shape (Conv, BatchNorm, MaxPool, ColumnSums, Attention,
// LayerNorm, Embedding, Drop), and methods for what needs no plan (ReLU, GELU, Add, SGD, AdamW,
// SoftmaxCrossEntropy and the like). A plan's calls take their operands and their scratch from the caller
// and do not allocate.
//
// Layouts: activations [N, H, W, C], convolution weights [R, S, C, K], a linear layer's weights [C, K],
// all float32 without gaps. N batch, H W height and width, C input channels, K output channels, R S
// filter. Nothing need be aligned.
//
// # Guarantees
//
// The order of every floating-point sum is a function of the shape and the ISA alone. So a call gives
// the same bits for any number of threads, at any address, on any processor that has the ISA. Each
// ISA may give bits of its own: the portable loops round products before they add them, the assembly
// uses fused multiply-add. No instruction is used whose result processor makers define differently.
//
// A CPU and its plans belong to one goroutine at a time; separate CPUs are independent. A call returns
// when all of its parts are done, whichever thread did them.
//
// # Errors
//
// Open and ParseISA return errors. All other calls panic on slices or shapes that do not fit, as these
// are bugs of the caller: "kernel: conv forward: len(x)=1, want 96".
//
// # Implementations
//
// Plain Go is the truth and serves every processor; AVX-512 and AVX2 are assembly, written by the
// nested module asmgen into z*_amd64.s and chosen once in dispatch_amd64.go. The build tag purego
// leaves assembly out. Only innermost loops are assembly, each call far below 100 microseconds because
// Go cannot preempt it; blocking, edges and threads are the same Go code for all.
//
// Heavy work is done by two loops. The indirect product (gather.go) serves convolutions, their gradient
// of the data, and linear layers: its rows are found through a table of offsets, so no image is
// unfolded, and on maps up to 8x8 taps that fall on padding are left out. The sum of outer products
// (outer.go) serves the gradient of the weights. Of 3x3 convolutions Winograd's algorithm (winograd.go)
// leaves matrix products of the same two loops, fewer than half as many, unless Config.Math is Exact.
// Both loops also make the small products of attention (product.go).
package kernel
