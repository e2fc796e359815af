//go:build amd64 && !purego

package asm

import "lockstep/compute"

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa compute.ISA) ElementOps {
	switch isa {
	case compute.AVX512:
		return ElementOps{
			Fill:             fillAVX512,
			Scale:            scaleAVX512,
			Add:              addAVX512,
			Relu:             reluAVX512,
			ReluBackward:     reluBackwardAVX512,
			Moments:          momentsAVX512,
			Normalize:        normalizeAVX512,
			NormalizeReLU:    normalizeReLUAVX512,
			NormSums:         normSumsAVX512,
			NormSumsReLU:     normSumsReLUAVX512,
			NormGrad:         normGradAVX512,
			NormGradReLU:     normGradReLUAVX512,
			NormalizeAdd:     normalizeAddAVX512,
			NormalizeAddReLU: normalizeAddReLUAVX512,
			NormSumsGate:     normSumsGateAVX512,
			Sgd:              sgdAVX512,
			SgdNesterov:      sgdNesterovAVX512,
			MaxPool:          maxPoolAVX512,
			MaxPoolBackward:  maxPoolBackwardAVX512,
			ReluPoolBackward: reluPoolBackwardAVX512,
			NormPool:         normPoolAVX512,
			NormPoolBackward: normPoolBackwardAVX512,
			WindowMax:        windowMaxAVX512,
			WindowPlace:      windowPlaceAVX512,
			WindowGive:       windowGiveAVX512,
		}
	case compute.AVX2:
		return ElementOps{
			Fill:             fillAVX2,
			Scale:            scaleAVX2,
			Add:              addAVX2,
			Relu:             reluAVX2,
			ReluBackward:     reluBackwardAVX2,
			Moments:          momentsAVX2,
			Normalize:        normalizeAVX2,
			NormalizeReLU:    normalizeReLUAVX2,
			NormSums:         normSumsAVX2,
			NormSumsReLU:     normSumsReLUAVX2,
			NormGrad:         normGradAVX2,
			NormGradReLU:     normGradReLUAVX2,
			NormalizeAdd:     normalizeAddAVX2,
			NormalizeAddReLU: normalizeAddReLUAVX2,
			NormSumsGate:     normSumsGateAVX2,
			Sgd:              sgdAVX2,
			SgdNesterov:      sgdNesterovAVX2,
			MaxPool:          maxPoolAVX2,
			MaxPoolBackward:  maxPoolBackwardAVX2,
			ReluPoolBackward: reluPoolBackwardAVX2,
			NormPool:         normPoolAVX2,
			NormPoolBackward: normPoolBackwardAVX2,
			WindowMax:        windowMaxAVX2,
			WindowPlace:      windowPlaceAVX2,
			WindowGive:       windowGiveAVX2,
		}
	}
	return plainElement()
}
