//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// elementFor returns the memory-bound inner loops of isa.
func elementFor(compute.ISA) ElementOps { return plainElement() }
