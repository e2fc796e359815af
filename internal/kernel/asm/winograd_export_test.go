package asm

import (
	"slices"

	"lockstep/compute"
)

// WinogradTransform is a transform of Winograd's algorithm for the tests: its numbers of source and
// destination vectors, and whether the source and the destination are pixels of a table.
type WinogradTransform struct {
	Name                 string
	From, To             int
	FromPixels, ToPixels bool
	run                  func(*WinogradArgs)
}

// WinogradsOf lists those of isa.
func WinogradsOf(isa compute.ISA) []WinogradTransform {
	o := winogradFor(isa)
	return slices.Concat(o.Tile.list("tile's", WinogradTile), o.Map.list("map's", WinogradMap),
		o.Strided.list("strided", WinogradStrided), o.Spread.list("spread", WinogradSpread)[:3])
}

// list lists the transforms of a form.
func (t *WinogradTransforms) list(whose string, f WinogradForm) []WinogradTransform {
	return []WinogradTransform{
		{whose + " input", f.In * f.In, f.Points(), true, false, t.Input},
		{whose + " output", f.Points(), f.Out * f.Out, false, true, t.Output},
		{whose + " filter", 9, f.Points(), false, false, t.Filter},
		{whose + " output gradient", f.Out * f.Out, f.Points(), true, false, t.OutputGrad},
		{whose + " filter gradient", f.Points(), 9, false, false, t.FilterGrad},
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
