//go:build amd64 && !purego

package asm

import (
	"slices"

	"lockstep/compute"
)

// SplitSet is the copies of one number of parts in the matrix unit's order, which need no matrix unit, and
// their portable twins.
type SplitSet struct {
	Parts      int
	Got, Plain SplitOps
}

// SplitSets lists the sets that this machine can run.
func SplitSets() []SplitSet {
	if !slices.Contains(compute.Supported(), compute.AVX512) {
		return nil
	}
	var list []SplitSet
	for i, got := range []SplitOps{
		{Rows: splitRowsAVX512_1, Pairs: splitPairsAVX512_1, Turn: splitTurnAVX512_1},
		{Rows: splitRowsAVX512_2, Pairs: splitPairsAVX512_2, Turn: splitTurnAVX512_2},
		{Rows: splitRowsAVX512_3, Pairs: splitPairsAVX512_3, Turn: splitTurnAVX512_3},
	} {
		list = append(list, SplitSet{i + 1, got, plainSplit(i + 1)})
	}
	return list
}
