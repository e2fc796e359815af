package input

import (
	"errors"
	"slices"

	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/model"
)

// weights is the file that a run starts from, as found by the launcher. Every worker reads the file itself
// and verifies that it is the same.
type weights struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// OpenWeights checks a file or folder that a run starts from.
func OpenWeights(path string) (*weights, error) {
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

// rescale says what the targets of set are to a network that keeps its last layer: what the weights say, or
// numbers as they are. It refuses samples that are not for the task.
func (b Start) rescale(c setting.Config, set *data.Set, m *meaning) error {
	isKept := (b.Weights != nil || model.IsFile(c.Model)) && (!c.FreshHead || b.Resumed != nil)
	if m == nil {
		m = &meaning{}
	}
	switch known := m.Values; {
	case c.IsRegression() && set.NumTargets == 0:
		return setting.Refuse("task: the labels of %s are classes, and %s predicts numbers; want a table, "+
			"texts or arrays (.npy)", c.Data, c.Task)
	case isKept && !c.IsRegression() && known != nil:
		return setting.Refuse("task: the weights of %s predict numbers; want --task regression", m.path)
	case !isKept || !c.IsRegression():
	case known == nil:
		set.Values = nil
	default:
		set.Values = known
		if len(known) != set.NumTargets {
			return setting.Refuse("task: the weights of %s predict %d numbers, not %d", m.path, len(known),
				set.NumTargets)
		}
	}
	return nil
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
