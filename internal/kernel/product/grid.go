package product

import (
	"math"

	"lockstep/compute"
)

// grid cuts the rows and the columns of a product into runs. A part of the work is one of each, and shares
// nothing with the others: each makes its own operands.
type grid struct{ rows, columns int }

// newGrid cuts so many rows and columns for threads so that they end first: the cost of the largest part,
// times how many parts a thread computes, is least. cost is that of a part with these shares of the rows and
// columns.
func newGrid(threads, rows, columns int, cost func(rows, columns float64) float64) (best grid) {
	least := math.Inf(1)
	for n := 1; n <= min(threads, columns); n++ {
		g := grid{min((threads+n-1)/n, rows), n}
		largest := func(n, runs int) float64 { return float64((n+runs-1)/runs) / float64(n) }
		rounds := (g.parts() + threads - 1) / threads
		if c := float64(rounds) * cost(largest(rows, g.rows), largest(columns, g.columns)); c < least {
			best, least = g, c
		}
	}
	return best
}

// parts returns the number of parts.
func (g grid) parts() int { return g.rows * g.columns }

// share returns the first row and column of part i and the ends of both, of so many.
func (g grid) share(i, rows, columns int) (r, c [2]int) {
	r[0], r[1] = compute.Span(rows, i/g.columns, g.rows)
	c[0], c[1] = compute.Span(columns, i%g.columns, g.columns)
	return r, c
}
