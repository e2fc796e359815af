package row

import "lockstep/compute"

// Squares is the plan of a sum of squares, as for the norm of a gradient.
type Squares struct {
	cpu  *CPU
	sums []float64 // of the runs
	x    []float32
}

// squaresRun is how many elements are summed in float32.
const squaresRun = 4096

// NewSquares plans sums over up to most elements, at least 1.
func (c *CPU) NewSquares(most int) *Squares {
	return &Squares{cpu: c, sums: make([]float64, (most+squaresRun-1)/squaresRun)}
}

// Sum returns the sum of x[i]^2. Runs of 4096 elements are summed in float32, in the order of the note
// "sums over a row", and their sums in float64 from the first to the last. So every ISA gives the same
// bits. The relative error is some 1e-5 at most; squares above float32's range give +Inf. One pass over x.
func (s *Squares) Sum(x []float32) float64 {
	runs := (len(x) + squaresRun - 1) / squaresRun
	s.x = x
	s.cpu.Share(s, len(x))
	s.x = nil
	total := 0.0
	for _, sum := range s.sums[:runs] {
		total += sum
	}
	return total
}

// Do sums a share of the runs.
func (s *Squares) Do(_, part, parts int) {
	lo, hi := compute.Span((len(s.x)+squaresRun-1)/squaresRun, part, parts)
	for i := lo; i < hi; i++ {
		run := s.x[i*squaresRun : min((i+1)*squaresRun, len(s.x))]
		s.sums[i] = float64(s.cpu.ops.Row.Dot(run, run))
	}
}
