// Package emulate builds a libcuda.so.1 that runs the kernels of package gpu on the processor, for tests.
//
// The library holds the kernels' sources, compiled by g++, and as much of NVIDIA's driver as package cuda
// loads. Folder source has both halves: what CUDA has built in, and the driver.
package emulate
