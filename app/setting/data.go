package setting

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/data"
)

// DataOptions returns options to find data sets in folder or, if that is "", in LOCKSTEP_DATA or the user's
// cache.
func DataOptions(folder string, e cluster.Environment) data.Options {
	o := data.Options{Dir: folder, Shared: e[cluster.EnvData]}
	if cache, err := os.UserCacheDir(); err == nil {
		o.Cache = filepath.Join(cache, "lockstep", "data")
	}
	return o
}

// DataOptions returns where the data of a run is and how it is read.
func (c Config) DataOptions(e cluster.Environment) data.Options {
	o := DataOptions(c.DataDir, e)
	o.Side, o.Vocabulary, o.MaxTokens = c.Size, c.Vocab, c.Sequence
	o.TextColumn, o.PairColumn, o.LabelColumn = c.TextColumn, c.PairColumn, c.LabelColumn
	o.EvalOnly = c.EvalOnly
	if o.Vocabulary == "" {
		o.Vocabulary = c.vocabularyOfWeights()
	}
	return o
}

// vocabularyOfWeights returns the path of the vocabulary in the folder of Weights; "" if there is none. Of
// two it is the one that also says how texts are cut.
func (c Config) vocabularyOfWeights() string {
	if c.Weights == "" || !c.Models().ReadsTexts(c.Model) {
		return ""
	}
	return cmp.Or(checkpoint.Beside(c.Weights, checkpoint.TokenizerFile),
		checkpoint.Beside(c.Weights, checkpoint.VocabularyFile))
}

// Names of the augmentations besides auto, which is the data set's own.
const (
	augmentNone           = "none"
	augmentCrop           = "crop"
	augmentFlip           = "flip"
	augmentCropFlip       = "crop-flip"
	augmentCropFlipCutout = "crop-flip-cutout"
	augmentShiftAlternate = "shift-alternate"
)

// Views returns the views of each test image; nil: only the image itself.
func (c Config) Views() []data.View {
	switch c.TTA {
	case ttaFlip:
		return data.FlipViews()
	case ttaFlipShift:
		return data.FlipShiftViews()
	}
	return nil
}

// cropPad is the greatest shift of a crop, and cutoutSide the side of the square that cutout removes, as is
// usual for images of 32x32. shiftPad is the greatest shift of shift-alternate, which suits few epochs.
const (
	cropPad    = 4
	cutoutSide = 16
	shiftPad   = 2
)

// Augmentation returns the changes of training images; own is the data set's default.
func (c Config) Augmentation(own data.Augmentation) (data.Augmentation, error) {
	switch c.Augment {
	case auto:
		return own, nil
	case augmentNone:
		return data.Augmentation{}, nil
	case augmentCrop:
		return data.Augmentation{Pad: cropPad}, nil
	case augmentFlip:
		return data.Augmentation{Flip: true}, nil
	case augmentCropFlip:
		return data.Augmentation{Pad: cropPad, Flip: true}, nil
	case augmentCropFlipCutout:
		return data.Augmentation{Pad: cropPad, Flip: true, Cutout: cutoutSide}, nil
	case augmentShiftAlternate:
		return data.Augmentation{Pad: shiftPad, Reflect: true, Flip: true, Alternate: true}, nil
	}
	return data.Augmentation{}, fmt.Errorf("augmentation %q", c.Augment)
}
