//go:build !amd64 || purego

package kernel

// peakFor returns the multiply-add loop of isa.
func peakFor(ISA) peakOps { return plainPeak() }
