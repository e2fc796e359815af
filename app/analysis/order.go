package analysis

import (
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/random"
)

// Order returns the order in which a round runs rows, of which it is given the blocks: a permutation that the
// seed draws for every two rounds, and in the second of them its reverse. The rows of a block follow one
// another, blocks in the order of their first rows, because the speed of a machine changes within a round and
// these rows are compared. So no row has a fixed place or neighbour, and a steady drift of the machine still
// meets all rows alike. Seed 0 is the order of the rows, then its reverse.
func Order(seed uint64, round int, blocks []int) []int {
	drawn := make([]int32, len(blocks))
	for i := range drawn {
		drawn[i] = int32(i)
	}
	if seed != 0 {
		random.Derive(seed, uint64(round/2)).Perm(drawn)
	}
	first := map[int]int{} // place of a block's first row
	for i, row := range drawn {
		if _, isKnown := first[blocks[row]]; !isKnown {
			first[blocks[row]] = i
		}
	}
	order := make([]int, len(blocks))
	for i, row := range drawn {
		order[i] = int(row)
	}
	slices.SortStableFunc(order, func(a, b int) int { return first[blocks[a]] - first[blocks[b]] })
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// isDrawn says if rows of a round ran in another order than that of the seed. A sitting does what those
// before it had left out: each has an order of its own, of the rows and rounds that it was the first to run.
func isDrawn(r *record.Results) []string {
	places := map[[2]int]int{} // of the first run of a row in a round
	for i, row := range r.Rows {
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			key := [2]int{run.Round, i}
			if at, isKnown := places[key]; !isKnown || run.Position < at {
				places[key] = run.Position
			}
		}
	}
	begins := []int{0}
	for _, s := range r.Sittings {
		begins = append(begins, s.First)
	}
	for i, begin := range begins {
		end := math.MaxInt
		if i+1 < len(begins) {
			end = begins[i+1]
		}
		if text := isDrawnWithin(r, places, begin, end); text != nil {
			return text
		}
	}
	return nil
}

// isDrawnWithin is isDrawn for the places from begin to end.
func isDrawnWithin(r *record.Results, places map[[2]int]int, begin, end int) []string {
	last, blocks := -1, make([]int, len(r.Rows))
	for i, row := range r.Rows {
		blocks[i] = row.Block
	}
	for round := range r.Ran() {
		for _, row := range Order(r.Order, round, blocks) {
			at, isThere := places[[2]int{round, row}]
			if !isThere || at < begin || at >= end {
				continue
			}
			if at < last {
				return one("Round %d ran row %d at place %d of all runs, before place %d; the order that "+
					"seed %d draws has it later: runs, rows or rounds were moved.", round+1, row+1, at+1,
					last+1, r.Order)
			}
			last = at
		}
	}
	return nil
}
