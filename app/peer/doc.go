// Package peer times other programs on the work of Lockstep's rows.
//
// [Find] starts a Python that has PyTorch. [PyTorch.Run] has it train what a [Work] describes, by a script
// that is embedded here, and leaves the same steps.jsonl as a run of Lockstep does. [PyTorch.Close] ends it.
// PyTorch is never needed: without it Find fails, and nothing else uses this package.
//
// Both sides train the same network from the same weights on the same batches, which [Work.Tensors] holds
// (app/job writes it). If a run has more steps than there are batches, PyTorch begins with them again; its
// steps have as many samples as ours all the same. PyTorch's workers are processes linked by Gloo over the
// loopback. It runs with settings that make it fast on processors: memory that is freed stays with the
// process, large pages, as many OpenMP threads as the row has, and an optimizer in one pass.
// [PyTorch.Settings] names them.
//
// # Processes
//
// Loading PyTorch takes seconds, so there is one Python for each number of threads, which loads it once and
// computes nothing. The workers of a run are its forks. All of them are one process group, which is killed
// when the context of a run ends, when no worker makes a step for [PyTorch.Patience], and by Close. If
// Lockstep is killed, Python's input ends, and it ends itself with its workers. A Python that has ended fails
// its run, and the next run starts another.
package peer
