package setting

import (
	"lockstep/comm"
	"lockstep/compute"
)

const (
	none = "none" // no test-time augmentation

	linkLocal = "local"
	linkSHM   = "shm"
	linkTCP   = "tcp"

	ttaFlip      = "flip"
	ttaFlipShift = "flip-shift"

	decayAll      = "all"      // weight decay of every parameter, as in PyTorch
	decayMatrices = "matrices" // not of biases and norms

	auto = "auto"

	// Auto is the strategy, or the math, that is replaced by another one before a run begins.
	Auto = auto
)

// Names of the normalisations besides auto.
const (
	NormalizeData     = "data"
	NormalizeImageNet = "imagenet"
)

func algorithms() []string { return append([]string{auto}, comm.Algorithms()...) }
func links() []string      { return []string{auto, linkLocal, linkSHM, linkTCP} }

func isaNames() []string {
	return []string{compute.Plain.String(), compute.AVX2.String(), compute.AVX512.String()}
}

func mathNames() []string {
	return []string{compute.Fast.String(), compute.Exact.String(), compute.BF16x6.String(),
		compute.BF16x3.String(), compute.BF16.String(), mathFloat32, mathTF32, auto}
}

func normalizeNames() []string { return []string{auto, NormalizeData, NormalizeImageNet} }

func ttaNames() []string { return []string{none, ttaFlip, ttaFlipShift} }

func augmentNames() []string {
	return []string{auto, augmentNone, augmentCrop, augmentFlip, augmentCropFlip,
		augmentCropFlipCutout, augmentShiftAlternate}
}
