package row

import "lockstep/compute"

// Squares is the plan of a sum of squares, as for the norm of a gradient.
type Squares struct {
	cpu  *CPU
	sums []float32 // of the runs
	x    []float32
}

// SquaresRun is how many elements are summed in float32. Changing it changes results.
const SquaresRun = 4096

// NewSquares plans sums over up to most elements, at least 1.
func (c *CPU) NewSquares(most int) *Squares {
	return &Squares{cpu: c, sums: make([]float32, (most+SquaresRun-1)/SquaresRun)}
}

// Sum returns the sum of x[i]^2. Runs of 4096 elements are summed in float32, in the order of the note
// "sums over a row", and their sums in float64 from the first to the last. So every ISA gives the same
// bits. The relative error is some 1e-5 at most; squares above float32's range give +Inf. One pass over x.
func (s *Squares) Sum(x []float32) float64 {
	runs := (len(x) + SquaresRun - 1) / SquaresRun
	s.x = x
	s.cpu.Share(s, len(x))
	s.x = nil
	return AddRuns(s.sums[:runs])
}

// AddRuns returns the sum of the sums of runs, in float64 from the first to the last.
func AddRuns(sums []float32) float64 {
	total := 0.0
	for _, sum := range sums {
		total += float64(sum)
	}
	return total
}

// Do sums a share of the runs.
func (s *Squares) Do(_, part, parts int) {
	lo, hi := compute.Span((len(s.x)+SquaresRun-1)/SquaresRun, part, parts)
	for i := lo; i < hi; i++ {
		run := s.x[i*SquaresRun : min((i+1)*SquaresRun, len(s.x))]
		s.sums[i] = s.cpu.ops.Row.Dot(run, run)
	}
}
