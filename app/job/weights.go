package job

import (
	"errors"
	"fmt"
	"slices"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/graph"
)

// weights is the file that a run starts from, as found by the launcher. Every worker reads the file itself
// and verifies that it is the same.
type weights struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// openWeights checks a file or folder that a run starts from.
func openWeights(path string) (*weights, error) {
	r, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	w := &weights{Path: path}
	_, err = describe(r, path)
	if err == nil {
		w.SHA256, err = r.SHA256()
	}
	return w, errors.Join(err, r.Close())
}

// normalize sets how set's images are normalised, if it has any. Weights without this metadata come from
// other programs and get ImageNet's constants for RGB images, as torchvision documents for all of its
// weights.
func normalize(c setting.Config, set *data.Set, m *meaning) error {
	channels := len(set.Mean)
	mean, std := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	switch {
	case set.Texts != nil:
		return nil // a setting for images has no effect, which has been said
	case c.Normalize == setting.NormalizeImageNet && channels != len(mean):
		return setting.Refuse(
			"normalize: imagenet has %d channels, %s has %d", len(mean), set.Name, channels)
	case c.Normalize == setting.NormalizeImageNet:
	case c.Normalize == setting.NormalizeData || m == nil || channels == 0:
		return nil
	case m.Mean != nil:
		if mean, std = m.Mean, m.Std; len(mean) != channels {
			return setting.Refuse("normalize: %s wants images of %d channels, %s has %d; "+
				"--normalize data uses those of the data set", m.path, len(mean), set.Name, channels)
		}
	case channels != len(mean):
		return nil
	}
	set.Mean, set.Std = slices.Clone(mean), slices.Clone(std)
	return nil
}

// start loads the weights that the run starts from, if any, into v.
func (w *worker) start(v *graph.Variables) (err error) {
	from := w.task.start.Weights
	if from == nil {
		return nil
	}
	r, err := checkpoint.Open(from.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum, err := r.SHA256()
	if err != nil {
		return err
	}
	if sum != from.SHA256 {
		return &checkpoint.FormatError{File: r.Path, Offset: -1, Reason: fmt.Sprintf(
			"not the file that the run was started with: sha256 %s, want %s", sum, from.SHA256)}
	}
	loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{FreshHead: w.config.FreshHead,
		Optional: w.task.network.Optional()})
	if err != nil {
		if mismatch := (*checkpoint.MatchError)(nil); errors.As(err, &mismatch) {
			mismatch.OnlyHead = mismatch.OnlyHead && !w.config.EvalOnly // which has no --fresh-head
		}
		return err
	}
	w.started = &record.Start{Path: from.Path, SHA256: sum, Tensors: loaded.Tensors, Fresh: loaded.Fresh,
		Unused: loaded.Unused, Mean: w.task.train.Mean, Std: w.task.train.Std}
	w.batches = loaded.Batches
	w.note("%d tensors from %s, sha256 %s; fresh: %q; unused: %q", loaded.Tensors, from.Path, sum,
		loaded.Fresh, loaded.Unused)
	if loaded.Prefix != "" {
		w.say("%s: the names of all tensors begin with %.80s, which is left out", from.Path, loaded.Prefix)
	}
	if len(loaded.Fresh) > 0 {
		w.say("%s: initialised at random, as --fresh-head allows: %s", from.Path, listed(loaded.Fresh))
	}
	return nil
}

// save writes the trained weights to the run directory, on rank 0 only because all replicas are equal.
func (w *worker) save(v *graph.Variables, shards int64) error {
	c := w.config
	if !c.Save || c.EvalOnly || c.IsIsolated() || w.rank != 0 {
		return nil
	}
	batches := w.batches + shards // updates of the running statistics
	bytes, err := checkpoint.Weights(v, batches, w.metadata()).Bytes()
	if err != nil {
		return err
	}
	err = w.makingRoom(bytes, func() error {
		path := w.dir.Path(checkpoint.WeightsFile)
		sum, err := checkpoint.Save(path, v, batches, w.metadata())
		if err != nil {
			return err
		}
		w.saved = &record.Saved{Path: path, SHA256: sum}
		return w.savePretrained()
	})
	return withRoom(err, w.dir.Path("."), setting.Size(bytes))
}

// metadata returns the metadata of saved weights: their classes, and how their images are normalised.
func (w *worker) metadata() map[string]string {
	set := w.task.train
	return checkpoint.Description{Classes: set.Classes, Mean: set.Mean, Std: set.Std}.Metadata()
}
