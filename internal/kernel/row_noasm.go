//go:build !amd64 || purego

package kernel

// rowFor returns the row loops of isa.
func rowFor(ISA) rowOps { return plainRow() }
