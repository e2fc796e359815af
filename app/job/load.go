package job

import (
	"cmp"
	"context"
	"runtime/debug"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/model"
)

// task holds the network and the samples of a run, which workers of one process share.
type task struct {
	network                 model.Network
	train, validation, test *data.Set // nil of the last two: there is none
	about                   string    // the samples, see data.Sets.String
	augment                 data.Augmentation
	hashes                  record.DataHash
	bytes                   int64 // of the whole sets
	start                   beginning
	said                    []string // what people must be told of how the weights were understood
}

// scored returns what is evaluated at the end; nil if there is no evaluation.
func (t task) scored() *data.Set { return cmp.Or(t.test, t.validation) }

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
	case s.Scored() != nil:
		return nil
	case c.EvalOnly:
		return setting.Refuse("--eval-only: data %s has no test samples", c.Data)
	case c.Until > 0:
		return setting.Refuse("--until: data %s has no test samples to reach an accuracy on", c.Data)
	}
	return nil
}

// load reads or generates the data, normalises it as the weights it begins with require, and builds the
// network for it.
func load(ctx context.Context, c setting.Config, o data.Options, b beginning) (task, error) {
	if c.Models().ReadsTexts(c.Model) {
		o.Shape, o.NumClasses = []int{c.Sequence}, 2 // of a synthetic set
	} else {
		o.Shape = []int{c.Size, c.Size, 3}
	}
	o.MaxTrain, o.MaxTest = c.LimitTrain, c.LimitTest
	if c.LimitTest == 0 {
		o.MaxTest = 1 // dropped below; 0 would make all
	}
	sets, err := c.Datasets().Load(ctx, c.Data, o)
	if err != nil {
		return task{}, err
	}
	m, err := b.meaning()
	if err != nil {
		return task{}, err
	}
	for _, set := range sets.All() {
		if err := normalize(c, set, m); err != nil {
			return task{}, err
		}
	}
	bytes := sets.Bytes()
	sets = sets.Limit(c.LimitTrain, c.LimitTest)
	if c.EvalOnly && sets.Test != nil {
		sets.Validation = nil
	}
	if err := needsScored(c, sets); err != nil {
		return task{}, err
	}
	t := task{train: sets.Train, validation: sets.Validation, test: sets.Test, about: sets.String(),
		start: b, bytes: bytes}
	if err := t.build(c, m); err != nil {
		return task{}, err
	}
	t.hashes = hashesOf(data.Sets{Train: t.train, Validation: t.validation, Test: t.test})
	debug.FreeOSMemory() // memory of decoding would add to that of training
	if t.augment, err = c.Augmentation(t.train.Augment); err != nil {
		return task{}, err
	}
	return t, nil
}

// build makes the network for the samples, which get the classes of the weights that it begins with.
func (t *task) build(c setting.Config, m *meaning) error {
	if err := t.name(c); err != nil {
		return err
	}
	if m != nil {
		if err := m.check(t.network); err != nil {
			return err
		}
	}
	if err := t.adopt(c, m); err != nil {
		return err
	}
	if err := t.name(c); err != nil { // for the classes that there are now
		return err
	}
	if err := c.CheckGroups(t.network); err != nil {
		return setting.Refuse("groups: %v", err)
	}
	return t.fitWords(c, m)
}

// name takes the network that c names.
func (t *task) name(c setting.Config) (err error) {
	t.network, err = c.Models().Named(c.Model, len(t.train.Classes), t.train.Shape)
	if err == nil {
		t.network, err = t.network.WithStem(c.Stem)
	}
	if err != nil {
		return setting.Refuse("model %s on data %s: %v", c.Model, c.Data, err)
	}
	return nil
}
