// Package op adds to graph the ops that networks from elsewhere are made of.
//
// [Mul], [MatMul], [Softmax] and the like take nodes of a graph and return nodes, as graph's own functions
// do: elementwise functions of one value and of two with broadcasting, sums and maxima along axes,
// products of matrices in batches, convolutions in groups, with gaps and transposed, and what moves
// elements about. Each is a [graph.Custom]: shape rule, kernel, gradient and count of FLOPs in one file.
//
// Broadcasting is NumPy's: shapes are aligned at their last axes, and an axis of one element is repeated.
// Axes are counted from 0; negative ones from the last. Maps are [N, H, W, C] as everywhere here.
//
// Guarantees: results have the same bits for any number of threads and on every processor. Sums run in the
// order of elements in memory, in float64 where a result is one sum (Mean, Softmax). Kernels do not allocate.
// Bits of a sample do not depend on the batch, but for products (see internal/kernel/product).
//
// Errors: what does not fit is the graph's first error, which graph.Compile returns with the op's name and
// the shapes. Kernels have none: what is not defined is NaN.
package op
