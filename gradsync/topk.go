package gradsync

import (
	"math"
	"time"
)

// topKWire sends the largest elements of each bucket and piece, with a codec that omits zeros.
func topKWire() Wire {
	return Wire{name: "top-k", codec: sparse, compressor: newTopK}
}

// sparse is the codec that omits zeros.
const sparse = "sparse"

// topK sends the elements of gradient + residual with the largest magnitudes, one in keepOneIn. The
// others become the next residual, so that every part of a gradient is sent eventually. After
// Stich, Cordonnier and Jaggi 2018, "Sparsified SGD with memory".
type topK struct {
	whole
	residuals [][]float32 // by piece
	counts    []uint32    // number of elements by one half of their bits
	spending  time.Duration
}

// keepOneIn says which fraction of a bucket is sent: one in so many elements.
const keepOneIn = 100

func newTopK(c *Config, buckets []Bucket) compressor {
	t := &topK{whole: whole{pieces: c.Pieces, buckets: buckets}, counts: make([]uint32, 1<<16)}
	for _, p := range c.Pieces {
		t.residuals = append(t.residuals, make([]float32, len(p)))
	}
	return t
}

// compress keeps the largest elements of the bucket in every piece and zeroes the others.
func (t *topK) compress(bucket int) {
	began, lo, hi := time.Now(), t.buckets[bucket].Lo, t.buckets[bucket].Hi
	for i, p := range t.pieces {
		t.one(p[lo:hi], t.residuals[i][lo:hi], (hi-lo+keepOneIn-1)/keepOneIn)
	}
	t.spending += time.Since(began)
}

func (t *topK) spent() time.Duration { return t.spending }

func (t *topK) state() State { return State{Residuals: t.residuals} }

// one keeps the keep largest elements of piece + residual in piece; of equal ones, the first.
func (t *topK) one(piece, residual []float32, keep int) {
	for i, r := range residual {
		piece[i] += r
	}
	least, ties := t.threshold(piece, keep)
	for i, x := range piece {
		u := magnitude(x)
		isKept := u > least
		if u == least && ties > 0 {
			isKept = true
			ties--
		}
		if isKept {
			residual[i] = 0
		} else {
			residual[i], piece[i] = x, 0
		}
	}
}

// threshold returns the magnitude of the keep-th largest element, and how many elements of that
// magnitude are among the keep largest. It counts the upper halves of the bits, and then, for the
// half of the keep-th element, the lower ones.
func (t *topK) threshold(piece []float32, keep int) (least uint32, ties int) {
	clear(t.counts)
	for _, x := range piece {
		t.counts[magnitude(x)>>16]++
	}
	upper, keep := t.descend(keep)
	clear(t.counts)
	for _, x := range piece {
		if u := magnitude(x); u>>16 == upper {
			t.counts[u&0xffff]++
		}
	}
	lower, ties := t.descend(keep)
	return upper<<16 | lower, ties
}

// descend returns the bin of the keep-th largest element and its rank within the bin.
func (t *topK) descend(keep int) (bin uint32, place int) {
	for bin = uint32(len(t.counts) - 1); bin > 0 && int(t.counts[bin]) < keep; bin-- {
		keep -= int(t.counts[bin])
	}
	return bin, keep
}

// magnitude orders like the absolute value and ranks a NaN above everything else.
func magnitude(x float32) uint32 { return math.Float32bits(x) &^ (1 << 31) }
