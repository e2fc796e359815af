// Package tensor describes shapes, element types, storage layouts: what a block of numbers
// means, never what to compute with it.
//
// [Shape] counts elements along each axis, [DType] names the element type, and [Layout] maps the
// order in which PyTorch writes a parameter to the order in which Lockstep stores it, so that
// kernels keep the layout they are fast in while files, hashes and random draws keep one
// canonical order. Values are plain data: safe for concurrent use as long as nobody writes them.
package tensor
