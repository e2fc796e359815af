// Package roofline times kernels against what the machine can reach.
//
// [Run] measures passes over working sets of rising size, then every op of a model's training step
// where it runs, on data that flows through the step, next to multiply-adds in registers. Each timing
// gets the time that these two limits allow (Williams, Waterman and Patterson 2009, "Roofline: an
// insightful visual performance model"), so that lost time can be looked for where it is.
//
// On a GPU the limits are a copy within its memory and a product of large matrices, in the precision of
// the step. The GPU times the ops, see package gpu.
//
// Counts are nominal: products as if all were computed, padding included, and each operand moved
// once. An algorithm that saves multiplications may therefore beat the bound.
//
// Run fails if the model does not exist or does not fit, if the machine lacks an implementation, or
// if the context is cancelled. It then returns no results.
package roofline
