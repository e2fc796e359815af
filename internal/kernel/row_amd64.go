//go:build amd64 && !purego

package kernel

// rowFor returns the row loops of isa.
func rowFor(isa ISA) rowOps {
	switch isa {
	case AVX512:
		return rowOps{
			mul:           mulAVX512,
			mulAdd:        mulAddAVX512,
			addScaled:     addScaledAVX512,
			lerp:          lerpAVX512,
			sum:           sumAVX512,
			top:           topAVX512,
			dot:           dotRowAVX512,
			squares:       squaresAVX512,
			gelu:          geluAVX512,
			geluBackward:  geluBackwardAVX512,
			expSum:        expSumAVX512,
			exps:          expsAVX512,
			softmaxGrad:   softmaxGradAVX512,
			layerNorm:     layerNormAVX512,
			layerNormSums: layerNormSumsAVX512,
			layerNormGrad: layerNormGradAVX512,
			drop:          dropAVX512,
			adamW:         adamWAVX512,
		}
	case AVX2:
		return rowOps{
			mul:           mulAVX2,
			mulAdd:        mulAddAVX2,
			addScaled:     addScaledAVX2,
			lerp:          lerpAVX2,
			sum:           sumAVX2,
			top:           topAVX2,
			dot:           dotRowAVX2,
			squares:       squaresAVX2,
			gelu:          geluAVX2,
			geluBackward:  geluBackwardAVX2,
			expSum:        expSumAVX2,
			exps:          expsAVX2,
			softmaxGrad:   softmaxGradAVX2,
			layerNorm:     layerNormAVX2,
			layerNormSums: layerNormSumsAVX2,
			layerNormGrad: layerNormGradAVX2,
			drop:          dropAVX2,
			adamW:         adamWAVX2,
		}
	}
	return plainRow()
}
