package gradsync

import "math"

// topKWire sends the largest elements of each bucket, and of each piece, in a codec that leaves out zeros.
func topKWire() Wire {
	return Wire{name: "top-k", codec: sparse, compressor: newTopK}
}

// sparse is the codec that leaves out zeros, of which other gradients have few.
const sparse = "sparse"

// topK sends, of gradient + residual, the elements of largest magnitude, one in keepOneIn. The others are the
// next step's residual, so that all of a gradient arrives sooner or later. After Stich, Cordonnier and
// Jaggi 2018, "Sparsified SGD with memory".
type topK struct {
	whole
	residuals [][]float32 // by piece
	counts    []uint32    // of elements by one half of their bits
}

// keepOneIn is the share of a bucket that is sent.
const keepOneIn = 100

func newTopK(c *Config, buckets []Bucket) compressor {
	t := &topK{whole: whole{pieces: c.Pieces, buckets: buckets}, counts: make([]uint32, 1<<16)}
	for _, p := range c.Pieces {
		t.residuals = append(t.residuals, make([]float32, len(p)))
	}
	return t
}

// compress leaves the largest elements of the bucket in every piece.
func (t *topK) compress(bucket int) {
	lo, hi := t.buckets[bucket].Lo, t.buckets[bucket].Hi
	for i, p := range t.pieces {
		t.one(p[lo:hi], t.residuals[i][lo:hi], (hi-lo+keepOneIn-1)/keepOneIn)
	}
}

func (t *topK) state() State { return State{Held: t.residuals} }

// one leaves keep elements of piece + residual in piece; of those equally large the first.
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

// threshold returns the magnitude of the keep-th largest element, and how many of that magnitude are
// among the keep largest: by counting the upper halves of the bits, then the lower ones where it lies.
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

// descend returns the bin of the keep-th largest element, and its place within the bin.
func (t *topK) descend(keep int) (bin uint32, place int) {
	for bin = uint32(len(t.counts) - 1); bin > 0 && int(t.counts[bin]) < keep; bin-- {
		keep -= int(t.counts[bin])
	}
	return bin, keep
}

// magnitude orders like the absolute value, with a NaN above all.
func magnitude(x float32) uint32 { return math.Float32bits(x) &^ (1 << 31) }
