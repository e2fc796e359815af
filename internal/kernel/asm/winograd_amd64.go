//go:build amd64 && !purego

package asm

import "lockstep/compute"

// winogradFor returns the Winograd transforms of isa.
func winogradFor(isa compute.ISA) WinogradOps {
	o := plainWinograd()
	switch isa {
	case compute.AVX512:
		var narrow WinogradOps
		narrow.setAVX2()
		o.setAVX512()
		o.Tile.inSixteens(&narrow.Tile)
		o.Map.inSixteens(&narrow.Map)
		o.Strided.inSixteens(&narrow.Strided)
		o.Spread.inSixteens(&narrow.Spread)
	case compute.AVX2:
		o.setAVX2()
	}
	o.Spread.Filter = o.Strided.Filter
	return o
}

// inSixteens lets t transform the channels sixteen at a time, and narrow the rest.
func (t *WinogradTransforms) inSixteens(narrow *WinogradTransforms) {
	t.Input = inSixteens(t.Input, narrow.Input)
	t.Output = inSixteens(t.Output, narrow.Output)
	t.Filter = inSixteens(t.Filter, narrow.Filter)
	t.OutputGrad = inSixteens(t.OutputGrad, narrow.OutputGrad)
	t.FilterGrad = inSixteens(t.FilterGrad, narrow.FilterGrad)
}

// inSixteens lets wide transform the channels sixteen at a time, and narrow the last eight of an odd
// number of eights.
func inSixteens(wide, narrow func(*WinogradArgs)) func(*WinogradArgs) {
	return func(a *WinogradArgs) {
		width, whole := a.Width, a.Width&^15
		if whole == width {
			wide(a)
			return
		}
		src, dst, bias := a.Src, a.Dst, a.Bias
		if whole > 0 {
			a.Width = whole
			wide(a)
		}
		a.Src, a.Dst, a.Bias, a.Width = src[whole:], dst[whole:], bias[min(whole, len(bias)):], width-whole
		narrow(a)
		a.Src, a.Dst, a.Bias, a.Width = src, dst, bias, width
	}
}
