package graph

import (
	"cmp"
	"slices"
)

// block is a piece of the arena that is alive from step first to step last, both included.
type block struct {
	size        int // floats
	first, last int
	offset      int
}

// plan is the layout of an arena.
type plan struct {
	blocks []block
	size   int // floats
}

// planner lays out an arena for blocks, setting their offsets.
type planner func(blocks []block) plan

// arrange gives every block an offset, a multiple of a cache line, so that blocks alive at the same
// step do not overlap, and returns the arena's size.
//
// Largest first, each block goes into the smallest gap that fits between the placed blocks it meets
// in time, else behind them (greedy by size with best fit, after Pisarchyk and Lee 2020, "Efficient
// memory management for deep neural net inference"). Cost: O(blocks^2).
func arrange(blocks []block) plan {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(blocks[b].size, blocks[a].size)
	})
	size := 0
	var placed []int // in order of offset
	for _, i := range order {
		b := &blocks[i]
		b.offset = bestFit(blocks, placed, b)
		at, _ := slices.BinarySearchFunc(placed, b.offset, func(p, offset int) int {
			return cmp.Compare(blocks[p].offset, offset)
		})
		placed = slices.Insert(placed, at, i)
		size = max(size, b.offset+alignUp(b.size))
	}
	return plan{blocks: blocks, size: size}
}

// bestFit returns the offset of the smallest gap that holds b between the placed blocks alive
// together with it, or the end of the last of them.
func bestFit(blocks []block, placed []int, b *block) int {
	best, bestGap := -1, 0
	end := 0 // of the blocks seen so far
	need := alignUp(b.size)
	for _, i := range placed {
		p := &blocks[i]
		if p.last < b.first || b.last < p.first {
			continue
		}
		if gap := p.offset - end; gap >= need && (best < 0 || gap < bestGap) {
			best, bestGap = end, gap
		}
		end = max(end, p.offset+alignUp(p.size))
	}
	if best >= 0 {
		return best
	}
	return end
}
