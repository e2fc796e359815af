package asm

// The additions of Strassen's algorithm, in their portable form; asmgen reads the struct to find the fields
// from assembly.
//
// Strassen 1969, "Gaussian Elimination is not Optimal": of matrices cut into quarters, C = A B takes seven
// products of quarters instead of eight,
//
//	M1 = (A11 + A22) (B11 + B22)    M4 = A22 (B21 - B11)            C11 = M1 + M4 - M5 + M7
//	M2 = (A21 + A22) B11            M5 = (A11 + A12) B22            C12 = M3 + M5
//	M3 = A11 (B12 - B22)            M6 = (A21 - A11) (B11 + B12)    C21 = M2 + M4
//	                                M7 = (A12 - A22) (B21 + B22)    C22 = M1 - M2 + M3 + M6
//
// The five sums of quarters are the same for A and for B.

// Numbers of products, and of sums of quarters of either operand; a flag of StrassenArgs.
const (
	StrassenProducts = 7
	StrassenSums     = 5
	StrassenCopies   = 4 // a flag: Operand writes Q11 and Q22 too, behind the sums
)

// StrassenArgs describes the sums of quarters of an operand, or the quarters of a result as sums of products,
// for rows rows of width floats, whole vectors. The loops count Rows down.
type StrassenArgs struct {
	// The quarters; their rows are QuarterStride floats apart.
	Q11, Q12, Q21, Q22 []float32
	QuarterStride      int
	// Sums or products lie SumStride floats apart, their rows RowStride.
	Sums                 []float32
	SumStride, RowStride int
	Rows, Width          int
	// Bias and BiasNext are added to the left and to the right quarters of a result.
	Bias, BiasNext []float32
	Flags          int // of a result: TileAdd, which adds to the quarters too, and TileReLU
}

// StrassenOps holds the additions for one ISA. All ISAs give the same bits.
type StrassenOps struct {
	// Operand computes Q11+Q22, Q21+Q22, Q11+Q12, Q21-Q11 and Q12-Q22.
	Operand func(*StrassenArgs)
	// Result computes the quarters from the products M1 to M7, each in the order written above, then adds
	// the bias and what the quarter held.
	Result func(*StrassenArgs)
}

// plainStrassen returns the portable additions.
func plainStrassen() StrassenOps { return StrassenOps{Operand: operandPlain, Result: resultPlain} }

// operandPlain is the portable Operand.
func operandPlain(a *StrassenArgs) {
	for i := range a.Rows {
		q11, q12 := a.Q11[i*a.QuarterStride:], a.Q12[i*a.QuarterStride:]
		q21, q22 := a.Q21[i*a.QuarterStride:], a.Q22[i*a.QuarterStride:]
		for j := range a.Width {
			s := a.Sums[i*a.RowStride+j:]
			s[0] = q11[j] + q22[j]
			s[a.SumStride] = q21[j] + q22[j]
			s[2*a.SumStride] = q11[j] + q12[j]
			s[3*a.SumStride], s[4*a.SumStride] = q21[j]-q11[j], q12[j]-q22[j]
			if a.Flags&StrassenCopies != 0 {
				s[5*a.SumStride], s[6*a.SumStride] = q11[j], q22[j]
			}
		}
	}
}

// resultPlain is the portable Result.
func resultPlain(a *StrassenArgs) {
	for i := range a.Rows {
		for j := range a.Width {
			var m [StrassenProducts]float32
			for k := range m {
				m[k] = a.Sums[k*a.SumStride+i*a.RowStride+j]
			}
			at := i*a.QuarterStride + j
			a.put(&a.Q11[at], m[0]+m[3]-m[4]+m[6], a.Bias[j])
			a.put(&a.Q12[at], m[2]+m[4], a.BiasNext[j])
			a.put(&a.Q21[at], m[1]+m[3], a.Bias[j])
			a.put(&a.Q22[at], m[0]-m[1]+m[2]+m[5], a.BiasNext[j])
		}
	}
}

// put stores a sum of products.
func (a *StrassenArgs) put(to *float32, sum, bias float32) {
	sum += bias
	if a.Flags&TileAdd != 0 {
		sum += *to
	}
	if a.Flags&TileReLU != 0 && sum < 0 {
		sum = 0
	}
	*to = sum
}
