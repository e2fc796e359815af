package random

import "math/bits"

// Stream is an independent sequence of 64-bit words, addressed by index.
type Stream uint64

const streamSpacing = 0xD1342543DE82EF95

// mix is splitmix64's output function after one increment.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Derive returns the stream for seed and a path of numbers below it, such as (purpose, epoch,
// sample). Different paths give unrelated streams; the order of the parts matters.
func Derive(seed uint64, parts ...uint64) Stream {
	h := mix(seed)
	for _, p := range parts {
		h = mix(h ^ mix(p))
	}
	return Stream(h)
}

// Word returns word i of the stream: splitmix(stream * 0xD1342543DE82EF95 + i).
func (s Stream) Word(i uint64) uint64 { return mix(s.Start() + i) }

// Start returns stream * 0xD1342543DE82EF95: word i is splitmix(Start() + i), for loops that draw
// many words.
func (s Stream) Start() uint64 { return uint64(s) * streamSpacing }

// Unit returns number i of the stream, uniform in [0, 1) with 24 bits.
func (s Stream) Unit(i uint64) float64 { return float64(s.Word(i)>>40) / (1 << 24) }

// Symmetric returns number i of the stream, uniform in [-bound, bound):
// float32((2*Unit(i) - 1) * bound).
func (s Stream) Symmetric(i uint64, bound float64) float32 {
	u := float64(2*s.Unit(i)) - 1
	return float32(u * bound)
}

// Intn returns number i of the stream, uniform in [0, n), by the high half of a 128-bit product.
// Its bias is below n / 2^64. It panics unless n > 0.
func (s Stream) Intn(i uint64, n int) int {
	if n <= 0 {
		panic("random: Intn: n must be positive")
	}
	hi, _ := bits.Mul64(s.Word(i), uint64(n))
	return int(hi)
}

// Perm fills dst with a uniform permutation of 0..len(dst)-1 (Fisher and Yates, as in Knuth,
// volume 2, algorithm P). Cost: O(len(dst)).
func (s Stream) Perm(dst []int32) {
	for i := range dst {
		dst[i] = int32(i)
	}
	for i := len(dst) - 1; i > 0; i-- {
		j := s.Intn(uint64(i), i+1)
		dst[i], dst[j] = dst[j], dst[i]
	}
}
