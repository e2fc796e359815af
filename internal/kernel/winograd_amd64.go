//go:build amd64 && !purego

package kernel

// winogradFor returns the Winograd transforms of isa.
func winogradFor(isa ISA) winogradOps {
	switch isa {
	case AVX512:
		return winogradOps{
			input:      winogradInputAVX512,
			output:     winogradOutputAVX512,
			filter:     winogradFilterAVX512,
			outputGrad: winogradOutputGradAVX512,
			filterGrad: winogradFilterGradAVX512,
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
