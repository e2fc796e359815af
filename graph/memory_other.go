//go:build !linux

package graph

// allocate returns n zeroed floats from the Go heap.
func allocate(n int) (Memory, error) { return fromHeap(n), nil }
