package asm

import "lockstep/compute"

// WinogradTransform is a transform of Winograd's algorithm for the tests: its numbers of source and
// destination vectors, and whether the source and the destination are pixels of a table.
type WinogradTransform struct {
	Name                 string
	From, To             int
	FromPixels, ToPixels bool
	run                  func(*WinogradArgs)
}

// WinogradTransforms lists those of isa.
func WinogradTransforms(isa compute.ISA) []WinogradTransform {
	o := winogradFor(isa)
	return []WinogradTransform{
		{"input", 36, 36, true, false, o.Input},
		{"output", 36, 16, false, true, o.Output},
		{"filter", 9, 36, false, false, o.Filter},
		{"output gradient", 16, 36, true, false, o.OutputGrad},
		{"filter gradient", 36, 9, false, false, o.FilterGrad},
	}
}

// Run transforms width channels; stride is the distance of points and taps. It adds to dst and replaces
// negative results by zero if asked to, where the transform can.
func (t *WinogradTransform) Run(dst, src, zero, bias []float32, table []int32, stride, width int,
	add, relu bool) {
	a := &WinogradArgs{Table: table, Src: src, Dst: dst, Zero: zero, Bias: bias, Stride: stride,
		TapStride: stride, Width: width, Work: make([]float32, WinogradWork)}
	if add {
		a.Flags |= TileAdd
	}
	if relu {
		a.Flags |= TileReLU
	}
	t.run(a)
}
