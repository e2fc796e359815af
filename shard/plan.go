package shard

import (
	"fmt"
	"math/bits"
)

// Plan says which worker owns which shards.
type Plan struct {
	shards int
	first  []int // first[r] is worker r's first shard; first[workers] = shards
}

// Cut spreads shards over workers in contiguous runs whose lengths differ by at most one, cut
// where the runs fall into few subtrees. It fails unless 1 <= workers <= shards.
func Cut(shards, workers int) (Plan, error) {
	if workers < 1 || shards < workers {
		return Plan{}, fmt.Errorf("shard: cut: %d shards over %d workers, want 1 <= workers <= shards",
			shards, workers)
	}
	p := Plan{shards: shards, first: make([]int, workers+1)}
	short, long := shards/workers, shards%workers // long runs still to hand out
	for r := range workers {
		p.first[r+1] = p.first[r] + short
		mustBeLong := long == workers-r
		if long > 0 && (mustBeLong || isBetterCut(p.first[r+1]+1, p.first[r+1])) {
			p.first[r+1]++
			long--
		}
	}
	return p, nil
}

// isBetterCut reports whether cutting before shard a severs fewer tree levels than before b.
func isBetterCut(a, b int) bool {
	return bits.TrailingZeros(uint(a)) > bits.TrailingZeros(uint(b))
}

// Shards returns the number of shards, V.
func (p Plan) Shards() int { return p.shards }

// Workers returns the number of workers.
func (p Plan) Workers() int { return len(p.first) - 1 }

// Run returns worker rank's shards as the half-open range [lo, hi).
func (p Plan) Run(rank int) (lo, hi int) { return p.first[rank], p.first[rank+1] }

// Pieces returns the maximal subtrees of worker rank's run, left to right.
func (p Plan) Pieces(rank int) []Node {
	lo, hi := p.Run(rank)
	return cover(lo, hi, p.shards)
}

// Samples returns how many of a batch's samples shard v holds. Sizes differ by at most one and
// the larger shards come first; a shard is empty when the batch has fewer samples than shards.
func Samples(samples, shards, v int) int {
	n := samples / shards
	if v < samples%shards {
		n++
	}
	return n
}
