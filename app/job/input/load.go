package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/model"
	"lockstep/train"
)

// Task holds the network and the samples of a run, which workers of one process share.
type Task struct {
	Network                 model.Network
	Train, Validation, Test *data.Set // nil of the last two: there is none
	About                   string    // the samples, see data.Sets.String
	Augment                 data.Augmentation
	Hashes                  record.DataHash
	Bytes                   int64 // of the whole sets
	Start                   Start
	Learns                  train.Task // what the network learns
	Said                    []string   // what people must be told of how the weights were understood
}

// Scored returns what is evaluated at the end; nil if there is no evaluation.
func (t Task) Scored() *data.Set { return cmp.Or(t.Test, t.Validation) }

func hashesOf(s data.Sets) record.DataHash {
	h := record.DataHash{Train: s.Train.SHA256()}
	if s.Validation != nil {
		h.Validation = s.Validation.SHA256()
	}
	if s.Test != nil {
		h.Test = s.Test.SHA256()
	}
	return h
}

// needsScored refuses to evaluate on no samples; what --limit-test 0 leaves out is refused before.
func needsScored(c setting.Config, s data.Sets) error {
	switch {
	case s.Validation == nil && c.Choosing() != "":
		return setting.Refuse("--%s chooses by validation samples, and data %s has none; --validation 0.1 "+
			"sets a tenth of the training samples apart", c.Choosing(), c.Data)
	case s.Scored() != nil:
		return nil
	case c.EvalOnly:
		return setting.Refuse("--eval-only: data %s has no test samples", c.Data)
	case c.Until > 0:
		return setting.Refuse("--until: data %s has no test samples to reach an accuracy on", c.Data)
	}
	return nil
}

// Load reads or generates the data, normalises it as the weights it begins with require, and builds the
// network for it.
func Load(ctx context.Context, c setting.Config, o data.Options, b Start) (Task, error) {
	if c.Models().ReadsTexts(c.Model) {
		o.Shape, o.NumClasses = []int{c.Sequence}, 2 // of a synthetic set
	} else {
		o.Shape = []int{c.Size, c.Size, 3}
	}
	o.MaxTrain, o.MaxTest = c.LimitTrain, c.LimitTest
	if c.LimitTest == 0 {
		o.MaxTest = 1 // dropped below; 0 would make all
	}
	m, _, err := b.meaning(c)
	if err != nil {
		return Task{}, err
	}
	if m != nil {
		o.Table = m.Table
		if c.EvalOnly && m.Table != nil { // the weights know their column of labels
			o.LabelColumn = cmp.Or(o.LabelColumn, m.Table.Label)
		}
		if c.EvalOnly && m.Values != nil { // and their task
			c.Task, c.BestBy, o.Regression = setting.Regression, "", true
		}
	}
	sets, err := c.Datasets().Load(ctx, c.Data, o)
	if err != nil {
		return Task{}, err
	}
	isWhole := c.EvalOnly && sets.Test == sets.Train
	for _, set := range sets.All() {
		if err := cmp.Or(normalize(c, set, m), b.rescale(c, set, m)); err != nil {
			return Task{}, err
		}
	}
	bytes := sets.Bytes()
	sets = sets.Limit(c.LimitTrain, c.LimitTest)
	if c.Validation.Share > 0 && c.LimitTest != 0 {
		if sets, err = sets.WithValidation(c.Validation.Share, c.Seed); err != nil {
			return Task{}, setting.Refuse("--validation: %v", err)
		}
	}
	if c.EvalOnly && sets.Test != nil {
		sets.Validation = nil
	}
	if err := needsScored(c, sets); err != nil {
		return Task{}, err
	}
	t := Task{Train: sets.Train, Validation: sets.Validation, Test: sets.Test, About: sets.String(),
		Start: b, Bytes: bytes, Learns: train.Classification(c.Smoothing)}
	if c.IsRegression() {
		t.Learns = train.Regression()
	}
	if err := t.build(c, m); err != nil {
		return Task{}, err
	}
	if err := t.weigh(c); err != nil {
		return Task{}, err
	}
	if isWhole {
		t.Said = append(t.Said, fmt.Sprintf("%s has no part for the test, so that --eval-only scores all of "+
			"its samples: also those that the weights were trained on, if they come from it", c.Data))
	}
	t.noteLengths(c)
	t.Hashes = hashesOf(data.Sets{Train: t.Train, Validation: t.Validation, Test: t.Test})
	t.Hashes.Model = t.Network.FileSHA256()
	debug.FreeOSMemory() // memory of decoding would add to that of training
	t.Augment = c.Augmentation(t.Train.Augment)
	if err := t.Augment.Check(t.Train); err != nil {
		return Task{}, setting.Refuse("--augment, --mixup or --cutmix on %s: %v", c.Data, err)
	}
	return t, nil
}

// build makes the network for the samples, which get the classes of the weights that it begins with.
func (t *Task) build(c setting.Config, m *meaning) error {
	if err := t.name(c); err != nil {
		return err
	}
	if m != nil {
		if err := m.check(t.Network); err != nil {
			return err
		}
	}
	if stem := m.stem(c, t.Network); stem != c.Stem {
		c.Stem = stem
		if err := t.name(c); err != nil {
			return err
		}
	}
	classes := t.outputs()
	if err := t.adopt(c, m); err != nil {
		return err
	}
	if t.outputs() != classes {
		if err := t.name(c); err != nil {
			return err
		}
	}
	if err := c.CheckGroups(t.Network); err != nil {
		return setting.Refuse("groups: %v", err)
	}
	return t.fitWords(c, m)
}

// outputs returns how many the network has: one for each class, or for each number to predict.
func (t *Task) outputs() int {
	if t.Train.HasLabels() {
		return len(t.Train.Classes)
	}
	return t.Train.NumTargets
}

// Given returns the task of a network and samples that the calling program has, and which begins with b.
func Given(c setting.Config, n model.Network, s data.Sets, learns train.Task, b Start) (Task, error) {
	m, _, err := b.meaning(c)
	if err == nil {
		n, err = n.WithStem(m.stem(c, n))
	}
	if err != nil {
		return Task{}, err
	}
	t := Task{Network: n, Train: s.Train, Validation: s.Validation, Test: s.Test, About: s.String(),
		Hashes: hashesOf(s), Bytes: s.Bytes(), Start: b, Learns: learns}
	t.Hashes.Model = n.FileSHA256()
	return t, nil
}

// weigh says how often training samples count and are drawn, by their classes.
func (t *Task) weigh(c setting.Config) error {
	if c.WeightColumn != "" && t.Train.Weights == nil {
		return setting.Refuse("--weight-column: %s is no table or file of texts, and has no columns", c.Data)
	}
	if w := t.Train.Weights; c.WeightColumn != "" {
		if slices.Max(w) == 0 {
			return setting.Refuse("--weight-column: %s is 0 for all %d training samples of %s, which would "+
				"train nothing", c.WeightColumn, len(w), c.Data)
		}
		t.Said = append(t.Said, fmt.Sprintf("in the loss of training, samples count by column %.40s: from "+
			"%.4g to %.4g", c.WeightColumn, slices.Min(w), slices.Max(w)))
	}
	for _, by := range []struct {
		from string
		give func(*data.Set, string) (*data.Set, string, error)
	}{{c.ClassWeights, (*data.Set).WeighClasses}, {c.ClassShares, (*data.Set).DrawClasses}} {
		if by.from == "" {
			continue
		}
		set, said, err := by.give(t.Train, by.from)
		if err != nil {
			return err
		}
		t.Train, t.Said = set, append(t.Said, said)
	}
	return nil
}

// noteLengths tells of a length of samples that was asked for and changes nothing.
func (t *Task) noteLengths(c setting.Config) {
	usual, s := setting.Default(), t.Train
	for _, flag := range []struct {
		name        string
		is, changes bool
	}{
		{"--size", c.Size != usual.Size, s.Texts == nil && s.Shape[0] == c.Size},
		{"--sequence", c.Sequence != usual.Sequence, s.Texts != nil},
	} {
		if flag.is && !flag.changes {
			t.Said = append(t.Said, fmt.Sprintf("%s changes nothing: the samples of %s are %v", flag.name,
				c.Data, s.Shape))
		}
	}
}

// name takes the network that c names.
func (t *Task) name(c setting.Config) (err error) {
	t.Network, err = c.Models().Named(c.Model, t.outputs(), t.Train.Shape)
	if err == nil {
		t.Network, err = t.Network.WithStem(c.Stem)
	}
	if err == nil && t.Train.Texts != nil {
		for _, set := range (data.Sets{Train: t.Train, Validation: t.Validation, Test: t.Test}).All() {
			set.Shape = t.Network.Input // an ONNX file may read longer ones only
		}
	}
	if err != nil && t.Train.Table != nil && !c.Models().ReadsTexts(c.Model) {
		return setting.Refuse("model: %s reads no rows of numbers, which %s has; try --model mlp (%v)",
			c.Model, c.Data, err)
	}
	if bad := (*model.FileError)(nil); errors.As(err, &bad) {
		return err
	}
	if err != nil {
		return setting.Refuse("model %s on data %s: %v", c.Model, c.Data, err)
	}
	return nil
}

// CheckData refuses a checkpoint of a run with other data.
func (t Task) CheckData(c *checkpoint.Checkpoint, k job.Kept) error {
	test := 0
	if set := t.Scored(); set != nil {
		test = set.Len()
	}
	switch {
	case t.Train.Len() != k.TrainSamples || test != k.TestSamples:
		return job.Refuse(c, "the run has %d training and %d test samples, the data %d and %d",
			k.TrainSamples, k.TestSamples, t.Train.Len(), test)
	case k.Data.Model != t.Hashes.Model:
		return job.Refuse(c, "the file of the network has changed: its contents have sha256 %.16s, those "+
			"of the run %.16s", t.Hashes.Model, k.Data.Model)
	case k.Data != t.Hashes:
		return job.Refuse(c, "the data has changed: training and test samples have %v, those of the run %v",
			t.Hashes, k.Data)
	}
	return nil
}

// TextStat returns the size of the vocabulary and how many texts are too long; nil for images. Training texts
// count if the run trains.
func (t Task) TextStat(trains bool) *record.TextStat {
	texts := t.Train.Texts
	if texts == nil {
		return nil
	}
	s := &record.TextStat{Vocabulary: texts.Vocabulary}
	if trains {
		s.TrainCut = len(texts.Cut)
	}
	if set := t.Scored(); set != nil {
		s.TestCut = len(set.Texts.Cut)
	}
	return s
}
