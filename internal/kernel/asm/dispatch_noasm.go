//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// gemmFor returns the tiles of isa.
func gemmFor(compute.ISA) GemmOps { return plainGemm() }
