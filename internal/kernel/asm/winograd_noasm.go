//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// winogradFor returns the Winograd transforms of isa.
func winogradFor(compute.ISA) WinogradOps { return plainWinograd() }
