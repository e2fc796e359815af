// Package gpu computes programs on an NVIDIA GPU: a graph.Executor with the build tag cuda.
//
// [Open] returns an [Executor], or says what is missing. Without the tag, or on another system, Open always
// returns an error. Matrix products are cuBLASLt's and convolutions cuDNN's, both loaded when the program
// runs; everything else, and with Config.Plain also products and convolutions, are kernels of this package,
// in folder kernel, compiled ahead to PTX.
//
// Sums have a fixed order: on one kind of GPU, with one version of the libraries, the same inputs give the
// same bits. They differ from those of the processor in rounding.
//
// Work is queued on one stream. Kernels, Upload and Download may be called from one goroutine at a time.
// Once the GPU has failed, Executor.Err returns the error and nothing more is computed.
package gpu
