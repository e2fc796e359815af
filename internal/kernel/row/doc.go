// Package row computes on the rows of matrices.
//
// On gives the kernels on a CPU. From it come plans, which hold all that follows from a shape (BatchNorm,
// Moments, MaxPool, AvgPool, ColumnSums, LayerNorm, Embedding, Drop, Squares), and methods for what needs no
// plan (ReLU, GELU, Add, SGD, AdamW, SoftmaxCrossEntropy and the like). Calls take their operands and their
// scratch from the caller and do not allocate.
//
// Every product and every sum is rounded on its own, so all ISAs give the same bits, and so does any number
// of threads.
//
// What computes an image or a row from its own numbers alone (ReLU, GELU, the pools, LayerNorm, the loss,
// BatchNorm with given moments) gives it the same bits in every batch: no choice goes by the number of
// images. TestImageBitsByBatch holds this. Moments and the gradients of parameters are sums over the batch.
//
// # Errors
//
// Calls panic on slices or shapes that do not fit, as these are bugs of the caller: "kernel: relu:
// len(x)=1, want 96".
package row
