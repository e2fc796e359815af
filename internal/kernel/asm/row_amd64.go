//go:build amd64 && !purego

package asm

import "lockstep/compute"

// rowFor returns the row loops of isa.
func rowFor(isa compute.ISA) RowOps {
	switch isa {
	case compute.AVX512:
		return RowOps{
			Mul:           mulAVX512,
			MulAdd:        mulAddAVX512,
			AddScaled:     addScaledAVX512,
			Lerp:          lerpAVX512,
			Sum:           sumAVX512,
			Top:           topAVX512,
			Dot:           dotRowAVX512,
			Squares:       squaresAVX512,
			Gelu:          geluAVX512,
			GeluBackward:  geluBackwardAVX512,
			ExpSum:        expSumAVX512,
			Exps:          expsAVX512,
			SoftmaxGrad:   softmaxGradAVX512,
			LayerNorm:     layerNormAVX512,
			LayerNormSums: layerNormSumsAVX512,
			LayerNormGrad: layerNormGradAVX512,
			Drop:          dropAVX512,
			AdamW:         adamWAVX512,
		}
	case compute.AVX2:
		return RowOps{
			Mul:           mulAVX2,
			MulAdd:        mulAddAVX2,
			AddScaled:     addScaledAVX2,
			Lerp:          lerpAVX2,
			Sum:           sumAVX2,
			Top:           topAVX2,
			Dot:           dotRowAVX2,
			Squares:       squaresAVX2,
			Gelu:          geluAVX2,
			GeluBackward:  geluBackwardAVX2,
			ExpSum:        expSumAVX2,
			Exps:          expsAVX2,
			SoftmaxGrad:   softmaxGradAVX2,
			LayerNorm:     layerNormAVX2,
			LayerNormSums: layerNormSumsAVX2,
			LayerNormGrad: layerNormGradAVX2,
			Drop:          dropAVX2,
			AdamW:         adamWAVX2,
		}
	}
	return plainRow()
}
