// Package blas multiplies matrices on a GPU with NVIDIA's cuBLASLt, which it loads when the program runs. It
// compiles to nothing without the build tag cuda.
//
// [Open] returns a [Library], [Library.Plan] chooses an algorithm for a [Product], and [Plan.Run] queues it.
// Matrices are row-major and dense. The algorithm depends on the product, the library's version and the
// device alone, and only algorithms are chosen that add in a fixed order: equal inputs give equal bits.
//
// Run neither allocates nor waits, so it may be recorded with [cuda.Stream.Capture]; run a plan once before
// that, since the library loads its kernels when they are first used. A library and its plans belong to one
// goroutine at a time.
package blas
