// Package peer times other programs on the work of Lockstep's rows.
//
// [Find] looks for a Python with PyTorch. [PyTorch.Run] has it train what a [Work] describes, by a script
// that is embedded here, and leaves the same steps.jsonl as a run of Lockstep does. PyTorch is never
// needed: without it Find fails with a *MissingError, and nothing else uses this package.
//
// Both sides train the same network from the same weights on the same batches, which [Work.Tensors] holds
// (app/job writes it). PyTorch's workers are processes linked by Gloo over the loopback. It runs with
// settings that make it fast on processors: memory that is freed stays with the process, large pages, as
// many OpenMP threads as the row has.
package peer
