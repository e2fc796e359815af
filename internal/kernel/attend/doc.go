// Package attend computes scaled dot-product attention.
//
// A text gets the same bits whatever texts are with it in the batch (TestTextBitsByBatch).
//
// New gives a plan for a CPU. Its calls take their operands and their scratch from the caller, do not
// allocate, and panic on slices that do not fit.
package attend
