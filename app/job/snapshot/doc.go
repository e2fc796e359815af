// Package snapshot copies the state of a run between two steps, to write it as a checkpoint while training
// goes on.
//
// A [Saver] is rank 0's train.Checkpointer: it copies the state, and a goroutine writes the copy, one at a
// time. [Peers] gathers the state in which ranks differ: residuals of error feedback, shares of the
// optimizer, the optimizers of servers, and what workers that average their weights have of their own.
// [Restore] reads it back.
package snapshot
