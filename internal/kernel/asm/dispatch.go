package asm

import "lockstep/compute"

// Ops holds the inner loops of one ISA, chosen once when a CPU is opened. The outer loops above them
// are the same Go code for all.
type Ops struct {
	Gemm     GemmOps
	Lane     LaneOps
	Strassen StrassenOps
	Element  ElementOps
	Row      RowOps
	Winograd WinogradOps
	Peak     PeakOps
	Split    SplitOps // if the math is of parts
}

// OpsFor returns the inner loops of isa for m.
func OpsFor(isa compute.ISA, m compute.Math) Ops {
	return Ops{Gemm: gemmFor(isa), Lane: laneFor(isa), Element: elementFor(isa), Row: rowFor(isa),
		Winograd: winogradFor(isa), Strassen: strassenFor(isa), Peak: peakFor(isa),
		Split: splitFor(isa, m.Parts())}
}

// LineFloats is how many floats a cache line has: cuts between threads fall on its multiples, counted from
// the start of the slice.
const LineFloats = 16
