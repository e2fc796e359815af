//go:build !amd64 || purego

package kernel

// winogradFor returns the Winograd transforms of isa.
func winogradFor(ISA) winogradOps { return plainWinograd() }
