//go:build !amd64 || purego

package kernel

// elementFor returns the memory-bound inner loops of isa.
func elementFor(ISA) elementOps { return plainElement() }
