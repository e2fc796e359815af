package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// Mean and Std normalise the network's images; nil if the file does not give them.
	Mean []float32 `json:"mean"`
	Std  []float32 `json:"std"`
	// Words is the number of word embeddings in the file; 0 if it is not of a text model.
	Words int `json:"words"`
}

// Metadata of saved weights that says how their images are normalised: numbers with commas.
const (
	meanKey = "lockstep.mean"
	stdKey  = "lockstep.std"
)

// openWeights checks a file or folder that a run starts from.
func openWeights(path string) (*weights, error) {
	r, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	w := &weights{Path: path, Words: numWords(r)}
	w.SHA256, err = r.SHA256()
	if err == nil {
		w.Mean, err = readNumbers(r, meanKey)
	}
	if err == nil {
		w.Std, err = readNumbers(r, stdKey)
	}
	return w, errors.Join(err, r.Close())
}

// readNumbers returns the numbers of a metadata entry; nil if there is none.
func readNumbers(r *checkpoint.Reader, key string) ([]float32, error) {
	text, ok := r.Metadata[key]
	if !ok {
		return nil, nil
	}
	var numbers []float32
	for part := range strings.SplitSeq(text, ",") {
		x, err := strconv.ParseFloat(part, 32)
		if err != nil || !(x > -1e6 && x < 1e6) || key == stdKey && x <= 0 {
			return nil, &checkpoint.FormatError{File: r.Path, Offset: -1,
				Reason: fmt.Sprintf("metadata %s: %.60q is no list of numbers such as 0.5,0.25", key, text)}
		}
		numbers = append(numbers, float32(x))
	}
	return numbers, nil
}

// formatNumbers is the inverse of readNumbers.
func formatNumbers(numbers []float32) string {
	parts := make([]string, len(numbers))
	for i, x := range numbers {
		parts[i] = strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return strings.Join(parts, ",")
}

// normalize sets how set's images are normalised, if it has any. Weights without this metadata come from
// other programs and get ImageNet's constants for RGB images, as torchvision documents for all of its
// weights.
func normalize(c setting.Config, set *data.Set, w *weights) error {
	channels := len(set.Mean)
	mean, std := []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	switch {
	case set.Texts != nil:
		return nil // a setting for images has no effect, which has been said
	case c.Normalize == setting.NormalizeImageNet && channels != len(mean):
		return setting.Refuse(
			"normalize: imagenet has %d channels, %s has %d", len(mean), set.Name, channels)
	case c.Normalize == setting.NormalizeImageNet:
	case c.Normalize == setting.NormalizeData || w == nil || channels == 0:
		return nil
	case w.Mean != nil || w.Std != nil:
		if mean, std = w.Mean, w.Std; len(mean) != channels || len(std) != channels {
			return setting.Refuse("normalize: %s wants images of %d channels, %s has %d; "+
				"--normalize data uses those of the data set", w.Path, len(mean), set.Name, channels)
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
	loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{FreshHead: w.config.FreshHead})
	if err != nil {
		return err
	}
	w.started = &record.Start{Path: from.Path, SHA256: sum, Tensors: loaded.Tensors, Fresh: loaded.Fresh,
		Unused: loaded.Unused, Mean: w.task.train.Mean, Std: w.task.train.Std}
	w.batches = loaded.Batches
	w.note("%d tensors from %s, sha256 %s; fresh: %q; unused: %q", loaded.Tensors, from.Path, sum,
		loaded.Fresh, loaded.Unused)
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

// metadata returns the metadata of saved weights: how their images are normalised.
func (w *worker) metadata() map[string]string {
	metadata := map[string]string{}
	if set := w.task.train; len(set.Mean) > 0 {
		metadata[meanKey], metadata[stdKey] = formatNumbers(set.Mean), formatNumbers(set.Std)
	}
	return metadata
}
