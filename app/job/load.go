package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"lockstep/cluster"
	"lockstep/data"
	"lockstep/model"
)

// DataOptions says where data sets lie: in folder or, if that is "", in LOCKSTEP_DATA or the
// user's cache.
func DataOptions(folder string, e cluster.Environment) data.Options {
	o := data.Options{Dir: folder, Shared: e[cluster.EnvData]}
	if cache, err := os.UserCacheDir(); err == nil {
		o.Cache = filepath.Join(cache, "lockstep", "data")
	}
	return o
}

// dataOptions says where the data of a run lies and how it is read.
func (c Config) dataOptions(e cluster.Environment) data.Options {
	o := DataOptions(c.DataDir, e)
	o.Side, o.Vocabulary, o.MaxTokens = c.Size, c.Vocab, c.Sequence
	o.TextColumn, o.LabelColumn = c.TextColumn, c.LabelColumn
	if o.Vocabulary == "" {
		o.Vocabulary = c.vocabularyOfWeights()
	}
	return o
}

// task is what a run trains: the network and the samples, which workers of one process share.
type task struct {
	network     model.Network
	train, test *data.Set // test is nil if there is no evaluation
	augment     data.Augmentation
	hashes      DataHash
	bytes       int64 // of the whole sets
	start       beginning
}

// DataHash holds what data.Set.SHA256 says about the samples of a run.
type DataHash struct {
	Train string `json:"train"`
	Test  string `json:"test"` // "": there are none
}

// String shows the heads of both hashes.
func (h DataHash) String() string { return fmt.Sprintf("sha256 %.16s and %.16s", h.Train, h.Test) }

func hashesOf(train, test *data.Set) DataHash {
	h := DataHash{Train: train.SHA256()}
	if test != nil {
		h.Test = test.SHA256()
	}
	return h
}

// load reads the data, or generates it, normalises it as what it begins with wants it, and fits
// the network to it.
func (c Config) load(ctx context.Context, o data.Options, b beginning) (task, error) {
	if c.Catalog.models().ReadsTexts(c.Model) {
		o.Shape, o.NumClasses = []int{c.Sequence}, 2 // of a synthetic set
	} else {
		o.Shape = []int{c.Size, c.Size, 3}
	}
	o.MaxTrain, o.MaxTest = c.LimitTrain, c.LimitTest
	if c.LimitTest == 0 {
		o.MaxTest = 1 // dropped below; 0 would make all
	}
	train, test, err := c.Catalog.data().Load(ctx, c.Data, o)
	if err != nil {
		return task{}, err
	}
	for _, set := range []*data.Set{train, test} {
		if err := c.normalize(set, b.Weights); err != nil {
			return task{}, err
		}
	}
	t := task{train: train.Limit(c.LimitTrain), test: test.Limit(c.LimitTest), start: b,
		bytes: train.Bytes() + test.Bytes()}
	if t.test.Len() == 0 {
		t.test = nil
	}
	t.hashes = hashesOf(t.train, t.test)
	debug.FreeOSMemory() // what decoding leaves would add to what training takes
	if t.augment, err = c.augmentation(train.Augment); err != nil {
		return task{}, err
	}
	t.network, err = c.Catalog.models().Named(c.Model, len(train.Classes), train.Shape)
	if err == nil {
		t.network, err = t.network.WithStem(c.Stem)
	}
	if err != nil {
		return task{}, &UsageError{Lines: []string{fmt.Sprintf("model %s on data %s: %v",
			c.Model, c.Data, err)}}
	}
	if err := c.checkGroups(t.network); err != nil {
		return task{}, &UsageError{Lines: []string{fmt.Sprintf("groups: %v", err)}}
	}
	if err := t.fitWords(); err != nil {
		return task{}, err
	}
	return t, nil
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

// views returns how test images are shown; nil: each as it is.
func (c Config) views() []data.View {
	switch c.TTA {
	case ttaFlip:
		return data.FlipViews()
	case ttaFlipShift:
		return data.FlipShiftViews()
	}
	return nil
}

// cropPad is how far a crop may shift an image, and cutoutSide the side of what cutout takes out of
// it, as is usual for images of 32x32. shiftPad is how far shift-alternate goes, in few epochs.
const (
	cropPad    = 4
	cutoutSide = 16
	shiftPad   = 2
)

// augmentation returns the changes of training images; own is the data set's default.
func (c Config) augmentation(own data.Augmentation) (data.Augmentation, error) {
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
	return data.Augmentation{}, fmt.Errorf("job: augmentation %q", c.Augment)
}
