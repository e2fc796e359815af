//go:build cuda && linux && amd64

// Command generate compiles the kernels of package gpu to PTX with NVRTC, which needs no GPU.
//
// Run it in the package's folder after a change of folder kernel: go generate -tags cuda, or with the names
// of sources. NVRTC is looked for as cuda.Load does; Python's package nvidia-cuda-nvrtc has it.
package main
