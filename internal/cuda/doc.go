// Package cuda calls NVIDIA's driver, which it loads when the program runs: neither cgo nor a compiler is
// needed to build it. It compiles to nothing without the build tag cuda.
//
// [Open] returns a [Device]. A device has one context; every call makes it current on the calling thread
// first, so goroutines may call from any thread, but a [Stream] belongs to one goroutine at a time. [Load]
// finds a library of NVIDIA's toolkit, in the system's places and among Python's nvidia-* packages.
//
// Errors name the function of the driver and what the driver says. A device that has returned an error of a
// kernel is unusable.
package cuda
