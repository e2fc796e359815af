package kernel

// ops holds the inner loops of one ISA, chosen once when a CPU is opened. The outer loops above them
// are the same Go code for all.
type ops struct {
	gemm     gemmOps
	lane     laneOps
	element  elementOps
	row      rowOps
	winograd winogradOps
	peak     peakOps
	split    splitOps // if the math is of parts
}

// opsFor returns the inner loops of isa for m.
func opsFor(isa ISA, m Math) ops {
	return ops{gemm: gemmFor(isa), lane: laneFor(isa), element: elementFor(isa), row: rowFor(isa),
		winograd: winogradFor(isa), peak: peakFor(isa),
		split: splitFor(isa, m.parts())}
}
