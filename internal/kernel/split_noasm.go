//go:build !amd64 || purego

package kernel

// splitFor returns the portable products of parts.
func splitFor(_ ISA, parts int) splitOps { return plainSplit(parts) }
