package claim

import "math"

// settleOwners says which column each column of ends, deviations or runs is about. Two ends side by side are
// about one.
func (t *table) settleOwners() {
	for i := 0; i < len(t.columns); i++ {
		c := &t.columns[i]
		switch {
		case !c.isAbout():
		case c.kind == ends:
			c.of = t.owner(i)
		case !c.isEnd():
			c.of = t.measuredBefore(i)
		case i+1 < len(t.columns) && t.columns[i+1].isEnd() && t.columns[i+1].kind != c.kind:
			c.of = t.owner(i, i+1)
			t.columns[i+1].of = c.of
			i++
		default:
			c.of = t.owner(i)
		}
	}
}

// isEnd reports whether a column holds one end of intervals.
func (c column) isEnd() bool { return c.kind == low || c.kind == high }

// isPart reports whether a column holds a part of a time: of the network, or a phase.
func (c column) isPart() bool { return c.kind == network || c.kind == phase }

// measuredBefore returns the nearest column on the left that an interval can belong to; -1: none.
func (t *table) measuredBefore(i int) int {
	for j := i - 1; j >= 0; j-- {
		if k := t.columns[j].kind; k >= samples && k < low && k != repeats && k != classes {
			return j
		}
	}
	return -1
}

// owner returns the column that ends are about; -1: none. Candidates are the measured column before the ends,
// and the network's time and phases in between. The measured column has the ends if its figures lie between
// them. Otherwise a measured column further on the left has them if its figures do, and else the candidate
// whose figures are nearest to the ends.
func (t *table) owner(at ...int) int {
	before := t.measuredBefore(at[0])
	of, least := before, math.Inf(1)
	for j := max(before, 0); j < at[0]; j++ {
		if j != before && !t.columns[j].isPart() {
			continue
		}
		if v := t.distance(at, j); v < least {
			of, least = j, v
		}
	}
	for j := before; j >= 0 && least > 0; {
		if j = t.measuredBefore(j); j >= 0 && t.distance(at, j) == 0 {
			return j
		}
	}
	return of
}

// distance returns how far the figures of column j lie outside of the ends in columns at, in the mean of all
// rows. It is 0 if all lie between them, and NaN if the ends cannot be those of column j.
func (t *table) distance(at []int, j int) float64 {
	var readers []func(r int) cell
	for _, i := range at {
		if !t.isUnitOf(i, j) {
			return math.NaN()
		}
		readers = append(readers, t.readAs(i, j))
	}
	sum, n := 0.0, 0.0
	for r, row := range t.rows {
		b := noBracket()
		for k, i := range at {
			b.end(t.columns[i].kind, readers[k](r))
		}
		if v := b.distance(row[j]); given(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}
