package shard

import (
	"fmt"
	"math/bits"
)

// Plan assigns shards to workers.
type Plan struct {
	shards int
	first  []int // first[r] is worker r's first shard; first[workers] = shards
}

// Cut assigns contiguous runs of shards to workers. Their lengths differ by at most one, and runs
// begin where they consist of few subtrees. It returns an error unless 1 <= workers <= shards.
func Cut(shards, workers int) (Plan, error) {
	if workers < 1 || shards < workers {
		return Plan{}, fmt.Errorf("shard: cut: %d shards over %d workers, want 1 <= workers <= shards",
			shards, workers)
	}
	p := Plan{shards: shards, first: make([]int, workers+1)}
	short, long := shards/workers, shards%workers // number of long runs left
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

// usual is the number of shards that 1, 2 and 4 workers can share evenly.
const usual = 4

// Usual returns the number of shards that a batch is cut into unless somebody asks for another: 4, halved
// until each has at least least samples. So runs of 1, 2 and 4 workers end with the same bits. Workers that
// cannot share these evenly have a shard each.
func Usual(batch, least, workers int) int {
	n := usual
	for n > 1 && batch/n < least {
		n /= 2
	}
	if n%max(1, workers) != 0 {
		return workers
	}
	return n
}

// isBetterCut reports whether a cut before shard a divides fewer subtrees than one before b.
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

// Samples returns the number of samples of a batch in shard v. Sizes differ by at most one and
// larger shards come first; if the batch has fewer samples than shards, some shards are empty.
func Samples(samples, shards, v int) int {
	n := samples / shards
	if v < samples%shards {
		n++
	}
	return n
}
