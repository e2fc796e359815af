//go:build amd64 && !purego

package kernel

// winogradFor returns the Winograd transforms of isa.
func winogradFor(isa ISA) winogradOps {
	switch isa {
	case AVX512:
		return winogradOps{
			input:      inSixteens(winogradInputAVX512, winogradInputAVX2),
			output:     inSixteens(winogradOutputAVX512, winogradOutputAVX2),
			filter:     inSixteens(winogradFilterAVX512, winogradFilterAVX2),
			outputGrad: inSixteens(winogradOutputGradAVX512, winogradOutputGradAVX2),
			filterGrad: inSixteens(winogradFilterGradAVX512, winogradFilterGradAVX2),
		}
	case AVX2:
		return winogradOps{
			input:      winogradInputAVX2,
			output:     winogradOutputAVX2,
			filter:     winogradFilterAVX2,
			outputGrad: winogradOutputGradAVX2,
			filterGrad: winogradFilterGradAVX2,
		}
	}
	return plainWinograd()
}

// inSixteens lets wide transform the channels sixteen at a time, and narrow the last eight of an odd
// number of eights.
func inSixteens(wide, narrow func(*winogradArgs)) func(*winogradArgs) {
	return func(a *winogradArgs) {
		width, whole := a.width, a.width&^15
		if whole == width {
			wide(a)
			return
		}
		src, dst, bias := a.src, a.dst, a.bias
		if whole > 0 {
			a.width = whole
			wide(a)
		}
		a.src, a.dst, a.bias, a.width = src[whole:], dst[whole:], bias[min(whole, len(bias)):], width-whole
		narrow(a)
		a.src, a.dst, a.bias, a.width = src, dst, bias, width
	}
}
