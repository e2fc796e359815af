package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
)

// Every round visits every row once; the second of two rounds is the reverse of the first; rounds and seeds
// have orders of their own, which do not change from one version to the next.
func TestOrder(t *testing.T) {
	together := make([]int, 5)
	for _, seed := range []uint64{0, 1, 7} {
		for round := range 6 {
			got := compare.Order(seed, round, together)
			if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, []int{0, 1, 2, 3, 4}) {
				t.Errorf("seed %d, round %d: %v", seed, round, got)
			}
			if former := compare.Order(seed, max(round-1, 0), together); round%2 == 1 {
				slices.Reverse(former)
				if !slices.Equal(got, former) {
					t.Errorf("seed %d: round %d is %v, want %v, the former one in reverse", seed, round, got,
						former)
				}
			}
		}
	}
	if got := compare.Order(0, 3, make([]int, 4)); !slices.Equal(got, []int{3, 2, 1, 0}) {
		t.Errorf("without a seed: %v", got)
	}
	if got, want := compare.Order(2, 0, make([]int, 6)), []int{3, 5, 2, 4, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("seed 2: %v, want %v as in results that were written before", got, want)
	}
}

// Rows of a block follow one another in every round, and blocks and their rows have all orders.
func TestBlocksStayTogether(t *testing.T) {
	blocks := []int{0, 1, 0, 2, 1, 0, 2}
	firsts, orders := map[int]int{}, map[string]bool{}
	for round := range 400 {
		var runs []int // blocks, one after another
		order := compare.Order(5, round, blocks)
		for i, row := range order {
			if i == 0 || blocks[row] != blocks[order[i-1]] {
				runs = append(runs, blocks[row])
			}
		}
		if len(runs) != 3 {
			t.Fatalf("round %d: %v is in blocks %v", round, order, runs)
		}
		firsts[order[0]]++
		orders[fmt.Sprint(order)] = true
	}
	if len(firsts) != len(blocks) || len(orders) < 100 {
		t.Errorf("%d rows of %d begin a round, in %d orders of 144", len(firsts), len(blocks), len(orders))
	}
}

// Over many rounds each row is as often in each place, and as often before each other row.
func TestOrderIsFair(t *testing.T) {
	const rounds, rows = 4000, 4
	var at, before [rows][rows]int
	for round := range rounds {
		order := compare.Order(11, round, make([]int, rows))
		for place, row := range order {
			at[row][place]++
			for _, later := range order[place+1:] {
				before[row][later]++
			}
		}
	}
	for row := range rows {
		for i := range rows {
			if n := at[row][i]; n < rounds/rows-150 || n > rounds/rows+150 {
				t.Errorf("row %d is %d times in place %d of %d", row, n, i, rounds)
			}
			if n := before[row][i]; i != row && n != rounds/2 {
				t.Errorf("row %d is %d times before row %d, want %d", row, n, i, rounds/2)
			}
		}
	}
}
