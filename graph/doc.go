// Package graph compiles static graphs of tensor operations into programs.
//
// A [Graph] is built once for a batch size: inputs, parameters and state are [Node] values, and functions
// such as [Conv] or [BatchNorm] join them into further nodes. [Compile] then decides everything that does
// not depend on the data:
//
//	lower          choose the training or the inference form of each op
//	differentiate  emit the backward ops, which are ops like any other
//	passes         rewrite: fold ReLU and GELU into their producer, masks into batch norm, its sums into
//	               the convolution in front, GELU's gradient into the products around it, drop dead ops
//	prepare        ask the [Executor] for a kernel per op
//	recompute      where memory is short, repeat cheap ops in the backward pass
//	plan           give every value a place in one arena, reusing memory as values die
//
// The result is a [Program]: Forward, Backward and a few accessors. Parameters live outside it, in
// [Variables], so that programs for several batch sizes, for training and for inference share them.
//
// Functions that build a graph return no errors. The graph keeps the first error and ignores later ops on
// its results, and Compile returns it with the op's name and the shapes. Programs are deterministic: the
// order of every sum is a function of shapes alone. A program belongs to one goroutine at a time, and so
// does everything that shares its arena. Forward and Backward do not allocate.
//
// Inputs have names. [Program.Input] returns a handle on one, which is set before each Forward: images,
// texts, labels or whatever else the graph reads. Texts ([Graph.Texts]) are not padded: values with one row
// per token are ragged, and a run computes no other rows (docs/design/0005).
//
// Another package can compute programs on a device: it implements [Executor] and switches on the types of
// ops, whose names end in Op. Only the executor accesses its memory.
//
// Dimension letters: N batch, H W map, C channels in, K channels out, R S filter. Maps are stored
// [N, H, W, C], convolution weights [R, S, C, K], linear weights [C, K].
package graph
