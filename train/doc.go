// Package train runs the training loop of one worker.
//
// [New] compiles the programs and takes all memory; [Loop.Run] trains. A step cuts the global
// batch into virtual shards; the worker computes the gradient of each shard in its run, adds
// them along the tree of shard, and hands the resulting pieces to an [Updater], which
// turns them into the global sum. The optimizer then divides by the number of samples.
//
// Guarantees: parameters, running statistics, losses and counts depend on the configuration
// alone, not on the number of workers or threads, nor on how gradients and weights are exchanged. Every
// sample counts once: a smaller last batch trains on a program of its size, each epoch's samples
// are checked against the data set, and evaluations have the same batches for any number of workers.
// A steady step allocates nothing. The phases of a run add up to its wall time.
//
// An Updater is made by [NewLocal], [NewWhole], [NewSharded] or [NewLate] from an exchange between the
// workers. The last two leave the end of a step to the next forward pass, which waits for each weight
// where it first reads it.
//
// A [Keeper] is offered every [Moment] between two steps; [Loop.Resume] goes on from one with the
// same bits, whatever the number of workers was and is.
//
// Errors: New returns what is wrong with the configuration. Run returns a *[DivergedError] when a
// loss or, at the end, a parameter is no longer finite, the context's error between two steps after a
// cancellation, or the exchange's error with the step it broke. A Loop runs once.
package train
