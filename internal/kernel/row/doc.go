// Package row computes on the rows of matrices.
//
// On returns the kernels on a CPU. Some are plans, which hold everything that depends on the shape alone
// (BatchNorm, Moments, MaxPool, AvgPool, ColumnSums, LayerNorm, Embedding, Drop, Squares); others are
// methods that need no plan (ReLU, GELU, Add, SGD, AdamW, SoftmaxCrossEntropy and the like). Calls take
// their operands and their scratch from the caller and do not allocate.
//
// Every product and every sum is rounded on its own, so all ISAs give the same bits, and so does any number
// of threads.
//
// Kernels that compute an image or a row from its own values alone (ReLU, GELU, the pools, LayerNorm, the
// loss, BatchNorm with given statistics) give it the same bits in every batch: no choice depends on the
// number of images. TestImageBitsByBatch checks this. Batch statistics and the gradients of parameters are
// sums over the batch.
//
// # Errors
//
// Calls panic on slices or shapes that do not fit, as these are bugs of the caller: "kernel: relu:
// len(x)=1, want 96".
package row
