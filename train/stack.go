package train

import (
	"math/bits"

	"lockstep/shard"
)

// stack plans how the gradients of a run of shards merge into pieces with few buffers.
//
// Shard i of the run writes its gradient to buffer slots[i]; folds[i] lists the additions that
// follow, buffer Into += buffer From. Shards are computed abreast, so many at a time, and merge
// after that. At the end the buffers 0 to pieces-1 hold the run's maximal subtrees, left to right.
type stack struct {
	slots   []int
	folds   [][]shard.Sum
	pieces  int
	buffers int // at most pieces + log2(shards) + abreast - 1
	abreast int
}

// newStack plans shards [lo, hi) of a tree over shards. abreast is a power of two; if it does not divide
// the run into blocks of the tree, shards are computed one at a time.
func newStack(lo, hi, shards, abreast int) stack {
	if lo%abreast > 0 || (hi-lo)%abreast > 0 {
		abreast = 1
	}
	leaves := make([]shard.Node, 0, hi-lo)
	for v := lo; v < hi; v++ {
		leaves = append(leaves, shard.Node{Lo: v, Hi: v + 1})
	}
	sums, rest := shard.Reduce(leaves, shards)
	s := stack{pieces: len(rest), abreast: abreast}
	depth := 0
	for i := range leaves {
		if i%abreast == 0 {
			for n := range abreast {
				s.slots = append(s.slots, depth+n)
			}
			s.buffers = max(s.buffers, depth+abreast)
		}
		// Reduce lists the sums that leaf i completes right after leaf i, innermost first.
		var folds []shard.Sum
		top := i
		for ; len(sums) > 0 && sums[0].From == top; sums = sums[1:] {
			folds = append(folds, shard.Sum{Into: s.slots[sums[0].Into], From: s.slots[top]})
			top = sums[0].Into
		}
		depth = s.slots[top] + 1
		s.folds = append(s.folds, folds)
	}
	return s
}

// mostBuffers bounds the buffers of any run of at most n of so many shards. A run has no more than two
// subtrees of each size, and none of all shards unless it is the only one; one more buffer is for the shard
// that is computed.
func mostBuffers(n, shards int) int { return max(1, min(n, 2*bits.Len(uint(shards-1)))) }

// joinPieces makes the last shard also add the pieces, left to right, into one. Only isolated
// workers use it: their sum is not compared with the tree's.
func (s *stack) joinPieces() {
	last := len(s.folds) - 1
	for from := 1; from < s.pieces; from++ {
		s.folds[last] = append(s.folds[last], shard.Sum{Into: 0, From: from})
	}
	s.pieces = 1
}
