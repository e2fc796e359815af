//go:build arm64 && !purego

package asm

import "lockstep/compute"

// gemmFor returns the tiles of isa. NEON's registers of four floats are used in pairs, so a vector has as
// many lanes as one of AVX2.
func gemmFor(isa compute.ISA) GemmOps {
	o := plainGemm()
	if isa == compute.NEON {
		o.Lanes, o.Widths, o.Serial = 8, []int{2, 1}, 1<<19
		o.setNEON()
	}
	return o
}

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa compute.ISA) ElementOps {
	o := plainElement()
	if isa == compute.NEON {
		o.setNEON()
		o.Narrow = o.PoolOps
	}
	return o
}

// laneFor returns the tiles with an image in each lane of isa.
func laneFor(isa compute.ISA) LaneOps {
	o := plainLane()
	if isa == compute.NEON {
		o.Lanes, o.Most = 8, 2
		o.setNEON()
	}
	return o
}

// rowFor returns the row loops of isa.
func rowFor(isa compute.ISA) RowOps {
	o := plainRow()
	if isa == compute.NEON {
		o.setNEON()
	}
	return o
}

// winogradFor returns the Winograd transforms of isa.
func winogradFor(isa compute.ISA) WinogradOps {
	o := plainWinograd()
	if isa == compute.NEON {
		o.setNEON()
	}
	o.Spread.Filter = o.Strided.Filter
	return o
}

// strassenFor returns the additions of isa.
func strassenFor(isa compute.ISA) StrassenOps {
	o := plainStrassen()
	if isa == compute.NEON {
		o.setNEON()
	}
	return o
}

// peakFor returns the multiply-add loop of isa: 12 pairs of registers.
func peakFor(isa compute.ISA) PeakOps {
	o := plainPeak()
	if isa == compute.NEON {
		o.Run, o.Floats = peakNEON, 12*8
	}
	return o
}

// peakNEON is peakPlain with vectors.
//
//go:noescape
func peakNEON(sums []float32, turns int)

// splitFor returns the portable products of parts: denormals are zero in them, and arm64 finds denormals
// before it rounds a result, where the matrix unit finds them afterwards.
func splitFor(_ compute.ISA, parts int) SplitOps { return plainSplit(parts) }
