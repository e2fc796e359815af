// Package emulate builds a libcuda.so.1 that runs the kernels of package gpu on the processor, for tests.
//
// The library holds the kernels' sources, compiled by g++, and as much of NVIDIA's driver as package cuda
// loads. Folder source has both halves: what CUDA has built in, and the driver.
//
// Work is done when it is queued, unless the environment variable EMULATE_ORDER, [Order], says otherwise when
// a stream is made. With late every stream does its work as late as it can: when something waits for it.
// With copies-late all do so but the first of a context, with copies-early only that one. With random a
// stream does what is pending now and then. Freeing memory never waits. A program that relies on an order
// which its events do not ensure so gets other results, or fails.
package emulate
