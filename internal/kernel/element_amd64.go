//go:build amd64 && !purego

package kernel

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa ISA) elementOps {
	switch isa {
	case AVX512:
		return elementOps{
			fill:             fillAVX512,
			scale:            scaleAVX512,
			add:              addAVX512,
			relu:             reluAVX512,
			reluBackward:     reluBackwardAVX512,
			moments:          momentsAVX512,
			normalize:        normalizeAVX512,
			normalizeReLU:    normalizeReLUAVX512,
			normSums:         normSumsAVX512,
			normSumsReLU:     normSumsReLUAVX512,
			normGrad:         normGradAVX512,
			normGradReLU:     normGradReLUAVX512,
			normalizeAdd:     normalizeAddAVX512,
			normalizeAddReLU: normalizeAddReLUAVX512,
			normSumsGate:     normSumsGateAVX512,
			sgd:              sgdAVX512,
			sgdNesterov:      sgdNesterovAVX512,
			maxPool:          maxPoolAVX512,
			maxPoolBackward:  maxPoolBackwardAVX512,
			reluPoolBackward: reluPoolBackwardAVX512,
			normPool:         normPoolAVX512,
			normPoolBackward: normPoolBackwardAVX512,
			windowMax:        windowMaxAVX512,
			windowPlace:      windowPlaceAVX512,
			windowGive:       windowGiveAVX512,
		}
	case AVX2:
		return elementOps{
			fill:             fillAVX2,
			scale:            scaleAVX2,
			add:              addAVX2,
			relu:             reluAVX2,
			reluBackward:     reluBackwardAVX2,
			moments:          momentsAVX2,
			normalize:        normalizeAVX2,
			normalizeReLU:    normalizeReLUAVX2,
			normSums:         normSumsAVX2,
			normSumsReLU:     normSumsReLUAVX2,
			normGrad:         normGradAVX2,
			normGradReLU:     normGradReLUAVX2,
			normalizeAdd:     normalizeAddAVX2,
			normalizeAddReLU: normalizeAddReLUAVX2,
			normSumsGate:     normSumsGateAVX2,
			sgd:              sgdAVX2,
			sgdNesterov:      sgdNesterovAVX2,
			maxPool:          maxPoolAVX2,
			maxPoolBackward:  maxPoolBackwardAVX2,
			reluPoolBackward: reluPoolBackwardAVX2,
			normPool:         normPoolAVX2,
			normPoolBackward: normPoolBackwardAVX2,
			windowMax:        windowMaxAVX2,
			windowPlace:      windowPlaceAVX2,
			windowGive:       windowGiveAVX2,
		}
	}
	return plainElement()
}
