//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// strassenFor returns the additions of isa.
func strassenFor(compute.ISA) StrassenOps { return plainStrassen() }
