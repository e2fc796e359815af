package kernel

// PeakFloats returns how many sums the multiply-add loop of isa has.
func PeakFloats(isa ISA) int { return peakFor(isa).floats }

// PeakRun runs the multiply-add loop of isa.
func PeakRun(isa ISA, sums []float32, turns int) { peakFor(isa).run(sums, turns) }
