package setting

import (
	"cmp"
	"os"
	"path/filepath"

	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/data"
	"lockstep/data/photo"
	"lockstep/model"
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
	o.Regression, o.WeightColumn = c.IsRegression(), c.WeightColumn
	o.EvalOnly, o.SkipBad, o.Validation = c.EvalOnly, c.SkipBad, c.Validation.Path
	o.Uncut = !c.EvalOnly && !c.Augmentation(data.Augmentation{}).Cut.IsAll()
	o.InMemory = int64(c.Resident) / residentSamples
	if o.Vocabulary == "" {
		o.Vocabulary = c.vocabularyOfWeights()
	}
	return o
}

// vocabularyOfWeights returns the path of the vocabulary in the folder of Weights, or of the network's file;
// "" if there is none. Of two it is the one that also says how texts are cut.
func (c Config) vocabularyOfWeights() string {
	path := c.Weights
	if path == "" && model.IsFile(c.Model) {
		path = c.Model
	}
	if path == "" || !c.Models().ReadsTexts(c.Model) {
		return ""
	}
	return cmp.Or(checkpoint.Beside(path, checkpoint.TokenizerFile),
		checkpoint.Beside(path, checkpoint.VocabularyFile))
}

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

// residentSamples is the part of Resident, one of so many, that samples may take.
const residentSamples = 4

// Values of Shuffle.
const (
	shuffleAll    = "all"
	shuffleBlocks = "blocks"
)

// ShufflesBlocks reports whether samples are ordered by blocks, see data.Sampler.ByBlock.
func (c Config) ShufflesBlocks() bool { return c.Shuffle == shuffleBlocks }

// cropPad is the greatest shift of a crop, and cutoutSide the side of the square that cutout removes, as is
// usual for images of 32x32. shiftPad is the greatest shift of shift-alternate, which suits few epochs.
const (
	cropPad    = 4
	cutoutSide = 16
	shiftPad   = 2
)

// augmentation is a way to change training images, by name.
type augmentation struct {
	name string
	data.Augmentation
}

// jitter is that of the usual training on ImageNet: of each kind as much as keeps classes recognisable.
func jitter() photo.Jitter {
	return photo.Jitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}
}

// augmentations lists those besides auto, which is the data set's own.
func augmentations() []augmentation {
	return []augmentation{
		{none, data.Augmentation{}},
		{"crop", data.Augmentation{Pad: cropPad}},
		{"flip", data.Augmentation{Flip: true}},
		{"crop-flip", data.Augmentation{Pad: cropPad, Flip: true}},
		{"crop-flip-cutout", data.Augmentation{Pad: cropPad, Flip: true, Cutout: cutoutSide}},
		{"shift-alternate", data.Augmentation{Pad: shiftPad, Reflect: true, Flip: true, Alternate: true}},
		{"resized-crop-flip", data.Augmentation{Cut: photo.Usual(), Flip: true}},
		{"resized-crop-flip-jitter", data.Augmentation{Cut: photo.Usual(), Flip: true, Jitter: jitter()}},
	}
}

func augmentNames() []string {
	names := []string{auto}
	for _, a := range augmentations() {
		names = append(names, a.name)
	}
	return names
}

// Augmentation returns the changes of training images; own is the data set's default.
func (c Config) Augmentation(own data.Augmentation) data.Augmentation {
	for _, a := range augmentations() {
		if a.name == c.Augment {
			own = a.Augmentation
		}
	}
	own.Mixup, own.Cutmix = c.Mixup, c.Cutmix
	return own
}
