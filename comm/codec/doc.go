// Package codec has the forms in which sums travel: what [comm.Call].Codec may be.
//
//	name     bytes for n elements      loss
//	fp32     4n                        none: the memory itself, no codec
//	bf16     2n                        relative 2^-8 of each element
//	int8     n + 4 ceil(n/256)         1/254 of the largest of its block of 256
//	sparse   4 + 6 nonzeros, <= 4+4n   none; what top-k with error feedback leaves (package gradsync)
//	deflate  1 + what is left, <= 1+4n none
//	zstd     1 + what is left, <= 1+4n none
//
// All are pure functions of the elements: the same on every processor, and on all ranks of a group
// the results have the same bits. With a lossy codec they depend on the number of ranks, because
// what is rounded are the sums that each rank sends.
//
// A NaN stays a NaN and infinity does not become finite, so that a run that diverges shows it. What is
// decoded is checked: a body that is no encoding of so many elements is an error, never a panic, and
// nothing is allocated for what it claims to be.
//
// A codec is used by one goroutine at a time. Its scratch grows to the longest span it has seen.
package codec
