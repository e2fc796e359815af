package compare

import (
	"slices"

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
