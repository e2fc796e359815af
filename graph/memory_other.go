//go:build !linux

package graph

// allocate returns n zeroed floats from the Go heap.
func allocate(n int) (Memory, error) {
	block := make([]float32, n+alignFloats)
	return Memory{Floats: aligned(block, n, alignFloats*4)}, nil
}
