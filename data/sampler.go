package data

import (
	"fmt"
	"slices"

	"lockstep/random"
	"lockstep/shard"
)

// windowBatches is how many batches are sorted by length together: enough that the texts of a batch
// have nearly the same length, few enough that the batches of an epoch stay mixed.
const windowBatches = 50

// Sampler orders the samples of each epoch and divides them into batches and shards. The result
// depends on its four numbers, for texts on their lengths, and by class on labels and shares.
type Sampler struct {
	samples, batch, shards int
	seed                   uint64
	texts                  *Texts  // nil: lengths do not matter
	hand                   []int32 // scratch for one batch of texts
	blocks                 []int32 // scratch for the order of blocks; nil: samples are mixed over all
	drawn                  *drawn  // samples by class; nil: each comes once
}

// NewSampler returns a sampler of samples in global batches, each divided into shards. It panics
// unless 1 <= shards <= batch and samples >= 1.
func NewSampler(samples, batch, shards int, seed uint64) Sampler {
	if samples < 1 || shards < 1 || batch < shards {
		panic(fmt.Sprintf("data: sampler: %d samples, batch %d, %d shards, "+
			"want samples >= 1, batch >= shards >= 1", samples, batch, shards))
	}
	return Sampler{samples: samples, batch: batch, shards: shards, seed: seed}
}

// ByLength returns a sampler that puts texts of similar length into one batch and distributes them
// as evenly as possible over the batch's shards: without padding, a step takes as long as its
// longest shard.
//
// The permutation of each epoch is divided into windows of 50 batches, and each window is sorted by
// length; texts of equal length keep their random order. The batches, except for a smaller last
// one, are then shuffled. Within a batch the sorted texts are dealt to the shards back and forth
// (0, 1, 2, 2, 1, 0, 0, ...). The order is a function of seed, epoch and lengths. It panics unless
// there is one text for each sample. Its Order must not be called concurrently.
func (s Sampler) ByLength(texts *Texts) Sampler {
	if texts.Len() != s.samples {
		panic(fmt.Sprintf("data: sampler: %d texts, want %d", texts.Len(), s.samples))
	}
	s.texts, s.hand = texts, make([]int32, min(s.batch, s.samples))
	return s
}

// The order of ByBlock: samples of a block lie one after the other in a file, so that it is read in large
// parts, and a window is large enough to mix classes that lie apart.
const (
	blockSamples = 64
	windowBlocks = 256
)

// ByBlock returns a sampler for samples that are slow to reach one by one, because they lie on a disk: blocks
// of 64 samples in a row come in random order, and the samples of each 256 of them are mixed. An epoch is
// read nearly block by block. The order is a function of seed, epoch and the number of samples. Its Order
// must not be called concurrently.
func (s Sampler) ByBlock() Sampler {
	s.blocks = make([]int32, (s.samples+blockSamples-1)/blockSamples)
	return s
}

// inBlocks fills order, [samples], as ByBlock says.
func (s Sampler) inBlocks(order []int32, epoch int) {
	random.Derive(s.seed, purposeBlocks, uint64(epoch)).Perm(s.blocks)
	at := order[:0]
	for _, b := range s.blocks {
		for i := int(b) * blockSamples; i < min((int(b)+1)*blockSamples, s.samples); i++ {
			at = append(at, int32(i))
		}
	}
	const window = blockSamples * windowBlocks
	for lo := 0; lo < s.samples; lo += window {
		part := order[lo:min(lo+window, s.samples)]
		r := random.Derive(s.seed, purposeOrder, uint64(epoch), uint64(lo))
		for i := len(part) - 1; i > 0; i-- {
			j := r.Intn(uint64(i), i+1)
			part[i], part[j] = part[j], part[i]
		}
	}
}

// StepsPerEpoch returns the number of batches of an epoch; the last one may be smaller.
func (s Sampler) StepsPerEpoch() int { return (s.samples + s.batch - 1) / s.batch }

// Order fills order, [samples], with the permutation of an epoch, or by class with what is drawn. Cost:
// O(samples), by length O(samples log^2 batch).
func (s Sampler) Order(order []int32, epoch int) {
	if len(order) != s.samples {
		panic(fmt.Sprintf("data: sampler: len(order)=%d, want %d", len(order), s.samples))
	}
	if s.blocks != nil {
		s.inBlocks(order, epoch)
		return
	}
	if s.drawn != nil {
		s.drawn.order(order, s.seed, epoch)
	} else {
		random.Derive(s.seed, purposeOrder, uint64(epoch)).Perm(order)
	}
	if s.texts == nil {
		return
	}
	full := s.samples / s.batch * s.batch
	for lo := 0; lo < full; lo += windowBatches * s.batch {
		s.sort(order[lo:min(full, lo+windowBatches*s.batch)])
	}
	s.sort(order[full:])
	s.shuffleBatches(order[:full], random.Derive(s.seed, purposeBatches, uint64(epoch)))
	for inEpoch := range s.StepsPerEpoch() {
		lo := inEpoch * s.batch
		s.deal(order[lo : lo+s.BatchSamples(inEpoch)])
	}
}

// sort orders samples by the length of their texts.
func (s Sampler) sort(samples []int32) {
	slices.SortStableFunc(samples, func(a, b int32) int {
		return s.texts.Length(int(a)) - s.texts.Length(int(b))
	})
}

// shuffleBatches puts whole batches in random order (Fisher and Yates).
func (s Sampler) shuffleBatches(order []int32, r random.Stream) {
	for i := len(order)/s.batch - 1; i > 0; i-- {
		j := r.Intn(uint64(i), i+1)
		if i == j {
			continue
		}
		a, b := order[i*s.batch:(i+1)*s.batch], order[j*s.batch:(j+1)*s.batch]
		for k := range a {
			a[k], b[k] = b[k], a[k]
		}
	}
}

// deal distributes a sorted batch over its shards. The shortest texts go to the shards with one
// sample more than others; the rest is dealt in rounds, every other round backwards.
func (s Sampler) deal(batch []int32) {
	hand := s.hand[:copy(s.hand, batch)]
	extra, rounds := len(batch)%s.shards, len(batch)/s.shards
	at := 0
	for v := range s.shards {
		if v < extra {
			batch[at] = hand[v]
			at++
		}
		for round := range rounds {
			place := v
			if round%2 == 1 {
				place = s.shards - 1 - v
			}
			batch[at] = hand[extra+round*s.shards+place]
			at++
		}
	}
}

// BatchSamples returns the number of samples in batch inEpoch of an epoch, counted from 0.
func (s Sampler) BatchSamples(inEpoch int) int {
	return min(s.batch, s.samples-inEpoch*s.batch)
}

// Range returns the positions [lo, hi) in an epoch's order of shard v in batch inEpoch. The shards
// of a batch are consecutive; shard.Samples gives their sizes.
func (s Sampler) Range(inEpoch, v int) (lo, hi int) {
	n := s.BatchSamples(inEpoch)
	before := v*(n/s.shards) + min(v, n%s.shards)
	lo = inEpoch*s.batch + before
	return lo, lo + shard.Samples(n, s.shards, v)
}

// Coverage returns the multiset hash of the samples 0..samples-1, each once: the sum of a 64-bit
// mix of each index, modulo 2^64.
//
// A sum has no order, so the hashes of any parts add up to the hash of the whole. If it matches for
// an epoch then, except with a probability near 2^-64, no sample was omitted or used twice. Cost:
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
