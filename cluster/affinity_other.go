//go:build !linux

package cluster

// processors returns nil: the affinity of threads is unknown on this system.
func processors() []int { return nil }

// useProcessors does nothing.
func useProcessors([]int) {}
