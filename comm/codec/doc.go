// Package codec implements the encodings of [comm.Call].Codec.
//
//	name     bytes for n elements      loss
//	fp32     4n                        none: the memory itself, no codec
//	bf16     2n                        relative 2^-8 of each element
//	int8     n + 4 ceil(n/256)         1/254 of the largest of its block of 256
//	sparse   4 + 6 nonzeros, <= 4+4n   none; what top-k with error feedback leaves (package gradsync)
//	deflate  1 + what is left, <= 1+4n none
//	zstd     1 + what is left, <= 1+4n none
//
// All are pure functions of the elements: the result is the same on every processor, and has the
// same bits on all ranks of a group. With a lossy codec the result depends on the number of ranks,
// because each rank rounds the sums that it sends.
//
// A NaN stays a NaN and infinity does not become finite, so that divergence stays visible. Decoding
// validates its input: a body that is not an encoding of the expected number of elements is an
// error, never a panic, and sizes that a body claims are never allocated.
//
// A codec is used by one goroutine at a time. Its scratch grows to the longest span it has seen.
package codec
