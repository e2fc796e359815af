package asm

// PeakOps multiplies and adds in registers, limited by arithmetic alone.
type PeakOps struct {
	// Run replaces each of sums, floats of them, by half of itself plus one, turns times.
	Run    func(sums []float32, turns int)
	Floats int
}

// plainPeak returns the portable loop.
func plainPeak() PeakOps { return PeakOps{Run: peakPlain, Floats: plainLanes} }

// peakPlain works on as many sums at a time as a row of a tile has.
func peakPlain(sums []float32, turns int) {
	for ; len(sums) > 0; sums = sums[plainLanes:] {
		s := (*[plainLanes]float32)(sums)
		for range turns {
			for j, x := range s {
				s[j] = fma(0.5, x, 1)
			}
		}
	}
}
