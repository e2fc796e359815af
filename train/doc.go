// Package train runs the training loop of one worker.
//
// [New] compiles the programs and allocates all memory; [Loop.Run] trains. A step divides the
// global batch into virtual shards. The worker computes the gradient of each of its shards, adds
// them along the tree of package shard, and passes the resulting pieces to an [Updater], which
// turns them into the global sum. The optimizer then divides by the number of samples.
//
// Guarantees: parameters, running statistics, losses and counts depend on the configuration alone,
// not on the number of workers or threads, nor on how gradients and weights are exchanged. Every
// sample counts once, unless the set has weights or draws by class: a smaller last batch has a program
// of its size, the samples of each epoch are checked against the data set, and evaluations have the
// same batches for any number of workers. A steady step allocates nothing. The phases of a run add up
// to its wall time.
//
// A [Task] says what a network learns: the loss, given the targets of the samples, and the metrics of an
// evaluation. [Classification] and [Regression] return tasks; the example of Task shows how to write one.
//
// A [Selection] ends a run when the validation samples show no progress, and gives it the best weights; every
// worker decides alike, from the same bits.
//
// [NewLocal], [NewWhole], [NewSharded] and [NewLate] make an Updater from an exchange between the
// workers. The last two overlap the end of a step with the next forward pass, which waits for each
// weight where it first reads it. [NewOuter] makes one for workers that each update their own weights
// and average them from time to time; then the result depends on the number of workers too, and each
// worker reports the losses of its own shards.
//
// [NewBalanced] wraps an Updater so that shards move from slow workers to fast ones between steps, which
// changes no bit.
//
// A [Checkpointer] receives a [Snapshot] after every step; [Loop.Resume] continues from one with the same
// bits, for any number of workers before and after, except with NewOuter.
//
// Errors: New returns an error for an invalid configuration. Run returns a *[DivergedError] if a
// loss or, at the end, a parameter is not finite; the context's error, between two steps, after a
// cancellation; or the exchange's error with the step that it interrupted. A Loop runs once.
package train
