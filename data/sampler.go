package data

import (
	"fmt"

	"lockstep/internal/random"
	"lockstep/internal/shard"
)

// Sampler orders the samples of each epoch and cuts them into batches and shards. It is a value
// without state: everything follows from its four numbers.
type Sampler struct {
	samples, batch, shards int
	seed                   uint64
}

// NewSampler returns the sampler of samples in global batches, each cut into shards. It panics
// unless 1 <= shards <= batch and samples >= 1.
func NewSampler(samples, batch, shards int, seed uint64) Sampler {
	if samples < 1 || shards < 1 || batch < shards {
		panic(fmt.Sprintf("data: sampler: %d samples, batch %d, %d shards, "+
			"want samples >= 1, batch >= shards >= 1", samples, batch, shards))
	}
	return Sampler{samples, batch, shards, seed}
}

// StepsPerEpoch returns the number of batches that hold every sample once; the last one may be
// smaller.
func (s Sampler) StepsPerEpoch() int { return (s.samples + s.batch - 1) / s.batch }

// Order fills order, [samples], with the permutation of an epoch. Cost: O(samples).
func (s Sampler) Order(order []int32, epoch int) {
	if len(order) != s.samples {
		panic(fmt.Sprintf("data: sampler: len(order)=%d, want %d", len(order), s.samples))
	}
	random.Derive(s.seed, purposeOrder, uint64(epoch)).Perm(order)
}

// BatchSamples returns the number of samples in batch inEpoch of an epoch, counted from 0.
func (s Sampler) BatchSamples(inEpoch int) int {
	return min(s.batch, s.samples-inEpoch*s.batch)
}

// Range returns the positions [lo, hi) within an epoch's order that shard v has in batch inEpoch.
// The shards of a batch follow each other; they are as even as shard.Samples makes them.
func (s Sampler) Range(inEpoch, v int) (lo, hi int) {
	n := s.BatchSamples(inEpoch)
	before := v*(n/s.shards) + min(v, n%s.shards)
	lo = inEpoch*s.batch + before
	return lo, lo + shard.Samples(n, s.shards, v)
}

// Coverage returns the multiset hash of the samples 0..samples-1, each once: the sum of a 64-bit
// mix of each index, modulo 2^64.
//
// A sum has no order, so the hashes of any parts add up to the hash of the whole. If it agrees
// for an epoch, then but for a chance near 2^-64 no sample was left out or used twice. Cost:
// O(samples).
func Coverage(samples int) uint64 {
	sum := uint64(0)
	for i := range samples {
		sum += sampleHash(int32(i))
	}
	return sum
}

func sampleHash(index int32) uint64 {
	return random.Stream(purposeCoverage).Word(uint64(index))
}
