// Package tensor describes blocks of numbers: shapes, element types, storage layouts.
//
// [Shape] counts elements along each axis, [DType] names the element type, and [Layout] maps
// PyTorch's order of a parameter to the order in which Lockstep stores it: kernels have the layout
// in which they are fast, while files, hashes and random draws have one canonical order. Values are
// plain data: safe for concurrent use as long as nobody writes them.
package tensor
