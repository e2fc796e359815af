// Package dnn convolves on a GPU with NVIDIA's cuDNN, which it loads when the program runs. It compiles to
// nothing without the build tag cuda.
//
// [Open] returns a [Library], [Library.Plan] chooses an engine for one pass of a [Conv], and [Plan.Run]
// queues it. Maps are NHWC, filters [K, R, S, C]. Engines are taken in the order in which cuDNN's heuristic
// ranks them, never by timing, and only those that add in a fixed order: equal inputs give equal bits.
//
// Run neither allocates memory of the device nor waits, so it may be recorded with [cuda.Stream.Capture];
// run a plan once before that, since cuDNN loads its kernels when they are first used. A recording uses its
// plans: close it before them. A library and its plans belong to one goroutine at a time.
package dnn
