// Package asm holds the innermost loops of all kernels.
//
// OpsFor returns the loops of an ISA as a table of functions. Plain Go is the reference and runs on every
// processor; AVX-512, AVX2 and NEON are assembly, written by the nested module asmgen into z*_amd64.s and
// z*_arm64.s and chosen in *_amd64.go and dispatch_arm64.go. The build tag purego leaves assembly out. Only
// innermost loops are assembly, each call far below 100 microseconds because Go cannot preempt it; blocking,
// edges and threads are the same Go code for all, in the packages product, row and attend.
//
// # Guarantees
//
// All ISAs give the same bits. Loops over elements round every product and every sum on their own. Loops that
// multiply matrices, and transforms, add products with one rounding, by fused multiply-add or as the note
// "multiply-add in plain Go" has it. Reductions of a row have 16 lanes, however many a vector has. Denormals
// are kept, but in products of parts (SplitOps). No instruction is used whose result processor makers define
// differently. Which NaN a result is may depend on the ISA.
package asm
