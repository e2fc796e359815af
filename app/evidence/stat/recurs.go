package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// chance is the probability below which something is not called chance.
const chance = 1e-3

// AtLeast returns the probability that of n events of probability p, which lies between 0 and 1, at least k
// happen.
func AtLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// IsRecurring reports whether what happened so often in each half of a number of times, and would once in so
// many by chance, recurs: it happened twice as often as that in all, or in three of four times instead of in
// two, and chance explains neither all of it nor either half.
func IsRecurring(count, times [2]int, many int) bool {
	p := 1 / float64(many)
	all, n := count[0]+count[1], times[0]+times[1]
	is := float64(all) >= min(2*p, (1+p)/2)*float64(n) && AtLeast(all, n, p) < chance
	for half := range count {
		is = is && AtLeast(count[half], times[half], p) < math.Sqrt(chance)
	}
	return is
}
