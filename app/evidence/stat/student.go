package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// studentQuantile returns the t with P(|T| < t) = coverage.
func studentQuantile(coverage, freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 1-coverage)
	return math.Sqrt(freedom * (1 - x) / x)
}
