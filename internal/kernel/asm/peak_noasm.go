//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// peakFor returns the multiply-add loop of isa.
func peakFor(compute.ISA) PeakOps { return plainPeak() }
