package asm

import (
	"unsafe"

	"lockstep/compute"
)

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

// Words returns the memory of floats as words.
func Words(floats []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(floats))), len(floats))
}

// LineFloats is how many floats a cache line has: cuts between threads fall on its multiples, counted from
// the
// start of the slice.
const LineFloats = 16
