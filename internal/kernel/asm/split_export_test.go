//go:build amd64 && !purego

package asm

import (
	"slices"

	"golang.org/x/sys/cpu"

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

// OnePart lists the products of one part that this machine can run, whether or not it chooses them, by name.
func OnePart() map[string]SplitOps {
	list := map[string]SplitOps{}
	if slices.Contains(compute.Supported(), compute.AVX2) {
		list["multiply-adds of 256 bits"] = planeSplit(splitTileAVX2)
	}
	if slices.Contains(compute.Supported(), compute.AVX512) {
		list["multiply-adds of 512 bits"] = planeSplit(splitTileAVX512)
	}
	if cpu.X86.HasAVX512BF16 {
		list["dot products"] = dotSplit()
	}
	return list
}

// PlainPart returns the portable products of one part.
func PlainPart() SplitOps { return plainSplit(1) }
