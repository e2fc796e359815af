package asm

// PeakOps multiplies and adds in registers, limited by arithmetic alone.
type PeakOps struct {
	// Run replaces each of sums, floats of them, by half of itself plus one, turns times.
	Run    func(sums []float32, turns int)
	Floats int
}

// plainPeak returns the portable loop.
func plainPeak() PeakOps { return PeakOps{Run: peakPlain, Floats: 8} }

// peakPlain works on eight sums at a time, which the compiler keeps in registers.
func peakPlain(sums []float32, turns int) {
	for ; len(sums) > 0; sums = sums[8:] {
		a, b, c, d := sums[0], sums[1], sums[2], sums[3]
		e, f, g, h := sums[4], sums[5], sums[6], sums[7]
		for range turns {
			a, b = float32(a*0.5)+1, float32(b*0.5)+1
			c, d = float32(c*0.5)+1, float32(d*0.5)+1
			e, f = float32(e*0.5)+1, float32(f*0.5)+1
			g, h = float32(g*0.5)+1, float32(h*0.5)+1
		}
		sums[0], sums[1], sums[2], sums[3] = a, b, c, d
		sums[4], sums[5], sums[6], sums[7] = e, f, g, h
	}
}
