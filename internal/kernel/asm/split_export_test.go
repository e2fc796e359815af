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
		list["multiply-adds of 256 bits"] = planeSplit(splitSumsAVX2)
	}
	if slices.Contains(compute.Supported(), compute.AVX512) {
		list["multiply-adds of 512 bits"] = planeSplit(splitSumsAVX512)
	}
	if cpu.X86.HasAVX512BF16 {
		list["dot products"] = dotSplit()
	}
	return list
}

// SplitStore is a way of sums to their destination for a number of parts.
type SplitStore struct {
	Name       string
	Got, Plain func(*SplitTileArgs)
}

// SplitStores lists those that this machine can run.
func SplitStores() (list []SplitStore) {
	plain := func(parts int) func(*SplitTileArgs) {
		return func(a *SplitTileArgs) { splitStorePlain(parts, a) }
	}
	if slices.Contains(compute.Supported(), compute.AVX2) {
		list = append(list, SplitStore{"256 bits", splitStoreAVX2, plain(1)})
	}
	if slices.Contains(compute.Supported(), compute.AVX512) {
		list = append(list, SplitStore{"512 bits", splitStoreAVX512, plain(2)},
			SplitStore{"512 bits, one part", splitStoreOneAVX512, plain(1)})
	}
	return list
}

// PlainPart returns the portable products of one part.
func PlainPart() SplitOps { return plainSplit(1) }
