//go:build amd64 && !purego

package asm

import "lockstep/compute"

// winogradFor returns the Winograd transforms of isa.
func winogradFor(isa compute.ISA) WinogradOps {
	switch isa {
	case compute.AVX512:
		return WinogradOps{
			Input:      inSixteens(winogradInputAVX512, winogradInputAVX2),
			Output:     inSixteens(winogradOutputAVX512, winogradOutputAVX2),
			Filter:     inSixteens(winogradFilterAVX512, winogradFilterAVX2),
			OutputGrad: inSixteens(winogradOutputGradAVX512, winogradOutputGradAVX2),
			FilterGrad: inSixteens(winogradFilterGradAVX512, winogradFilterGradAVX2),
		}
	case compute.AVX2:
		return WinogradOps{
			Input:      winogradInputAVX2,
			Output:     winogradOutputAVX2,
			Filter:     winogradFilterAVX2,
			OutputGrad: winogradOutputGradAVX2,
			FilterGrad: winogradFilterGradAVX2,
		}
	}
	return plainWinograd()
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
