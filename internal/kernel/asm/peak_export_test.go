package asm

import "lockstep/compute"

// PeakFloats returns how many sums the multiply-add loop of isa has.
func PeakFloats(isa compute.ISA) int { return peakFor(isa).Floats }

// PeakRun runs the multiply-add loop of isa.
func PeakRun(isa compute.ISA, sums []float32, turns int) { peakFor(isa).Run(sums, turns) }
