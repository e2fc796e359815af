//go:build !linux

package cluster

// processors returns nil: which processors a thread may use is not known here.
func processors() []int { return nil }

// useProcessors does nothing.
func useProcessors([]int) {}
