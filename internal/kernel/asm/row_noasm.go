//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// rowFor returns the row loops of isa.
func rowFor(compute.ISA) RowOps { return plainRow() }
