// Package check computes programs on another executor while it watches every op.
//
// An [Executor] has memory of its own, as a device has, so it is also the example of an executor outside of
// package graph. Before each op it copies the inputs into buffers with guards around them; afterwards it
// copies the results back and reports, as a [Fault] with the op and the layer:
//
//   - a result that is NaN or infinite, where no input was, and an input that is,
//   - an element of a result that the op has not written,
//   - a write outside the results and the scratch memory, or to an input,
//   - an input that nobody has written, or that another op has overwritten since,
//   - results, inputs and scratch memory that overlap where the op does not allow it.
//
// The results are the same bits as without it. An op takes several times as long; it is meant for tests.
// An Executor belongs to one goroutine at a time. It cannot tell the passes of a program apart, so that a
// value that was written in an earlier pass counts as written until another takes its place.
package check
