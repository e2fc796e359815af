package input

import (
	"os"
	"path/filepath"
	"slices"

	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/data/wordpiece"
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/model"
	"lockstep/tensor"
	"lockstep/train"
)

// Trained is a trained network in use, and how its inputs are read.
type Trained struct {
	*infer.Predictor
	Images data.Reader    // of a network for images
	Config setting.Config // of the run, or what is known of weights that are no run
}

// OpenTrained opens the network at path: the folder of a run, an ONNX file or, if base names a model,
// weights. base has settings of weights that are no run, and the catalog of the program. use says how to
// compute. Errors are those of weights and of files of networks, and a *setting.UsageError for what is
// neither.
func OpenTrained(path string, base setting.Config, use infer.Config) (*Trained, error) {
	use, c, err := FindTrained(path, base, use)
	if err != nil {
		return nil, err
	}
	p, err := infer.New(use)
	if err != nil {
		return nil, err
	}
	shape := use.Network.Input
	return &Trained{p, data.Reader{Side: shape[0], IsGrey: shape[len(shape)-1] == 1}, c}, nil
}

// FindTrained returns use with the network at path, its weights and what its inputs and outputs mean, and
// what is known of the run. See OpenTrained.
func FindTrained(path string, base setting.Config, use infer.Config) (infer.Config, setting.Config,
	error) {
	c, err := configOf(path, base)
	if err != nil {
		return use, c, err
	}
	if !model.IsFile(path) {
		c.Weights = path
	}
	c.Resume, c.EvalOnly, c.FreshHead, c.Data = "", true, c.FreshHead && model.IsFile(c.Model), "the inputs"
	c.Normalize = setting.Default().Normalize // as the weights say
	start, err := Open(c, func(string) {})
	if err != nil {
		return use, c, err
	}
	t, err := forInputs(c, start)
	if err != nil {
		return use, c, err
	}
	use.Network, use.Classes, use.Mean, use.Std = t.Network, t.Train.Classes, t.Train.Mean, t.Train.Std
	use.Table, use.Values = t.Train.Table, t.Train.Values
	if t.Train.Texts != nil {
		use.Tokenizer = t.Train.Texts.Tokenizer
	}
	if math, err := compute.ParseMath(c.Math); err == nil { // a GPU's ways are not the processor's
		use.Math = math
	}
	use.Load = func(v *graph.Variables) error {
		if start.Weights == nil { // the file of the network has them
			v.Initialize(c.Seed)
			return nil
		}
		return job.WithFile(start.Weights.Path, func(r *checkpoint.Reader) error {
			_, err := checkpoint.Load(r, v, checkpoint.LoadOptions{Optional: t.Network.Optional()})
			return err
		})
	}
	return use, c, nil
}

// configOf returns the configuration of the run at path or, for weights or an ONNX file, base.
func configOf(path string, base setting.Config) (setting.Config, error) {
	if model.IsFile(path) {
		base.Model = path
		return base, nil
	}
	file := filepath.Join(path, rundir.ConfigFile)
	if _, err := os.Stat(file); err != nil {
		if _, err := os.Stat(path); err != nil && base.Model == "" {
			return base, setting.Refuse("%v", err)
		}
		if base.Model == "" {
			return base, setting.Refuse("%s is no folder of a run, which has a %s; for weights name the "+
				"network, as in --model resnet50", path, rundir.ConfigFile)
		}
		return base, nil
	}
	c, err := setting.ReadFile(file)
	c.Catalog = base.Catalog
	return c, err
}

// forInputs returns the task of a network in use, by the weights that start names.
func forInputs(c setting.Config, start Start) (t Task, err error) {
	m, n, err := start.meaning(c)
	if err != nil {
		return t, err
	}
	if m == nil {
		m = &meaning{path: c.Model}
	}
	shape, classes := tensor.Shape(slices.Clone(m.Input)), m.Classes
	if model.IsFile(c.Model) {
		if start.Weights != nil {
			if n, err = c.Models().Named(c.Model, 0, nil); err != nil {
				return t, err
			}
		} else if shape == nil {
			shape = n.Input
		}
		if classes == nil && m.Values == nil {
			classes = numbersTo(n.Classes)
		}
	}
	switch {
	case c.Models().ReadsTexts(c.Model):
		if shape == nil {
			shape = tensor.Shape{c.Sequence}
		}
		if model.IsFile(c.Model) {
			if _, err := c.Models().Named(c.Model, 0, shape); err != nil {
				shape = n.Input // it has places for fewer tokens
			}
		}
	case shape == nil:
		shape = tensor.Shape{c.Size, c.Size, max(1, len(m.Mean))}
		if m.Mean == nil {
			shape[2] = 3
		}
	}
	if classes == nil && m.Values == nil {
		classes = numbersTo(1) // the first of those that have numbers
	}
	set, err := data.Unlabelled(classes, shape, c.DataOptions(nil))
	if err != nil {
		return t, err
	}
	set.Table, set.Values, set.NumTargets = m.Table, m.Values, len(m.Values)
	t = Task{Train: set, Start: start, Learns: train.Classification(0)}
	if err := normalize(c, set, m); err != nil {
		return t, err
	}
	return t, t.build(c, m)
}

// WritePretrained writes what transformers reads beside the weights of a network for texts: its
// configuration, if it is one that transformers has, and the vocabulary.
func WritePretrained(dir rundir.Directory, n model.Network, classes []string, t *wordpiece.Tokenizer) error {
	var p model.Pretrained
	if n.IsBERT() {
		p = n.Pretrained(classes)
	}
	if t != nil {
		if id, ok := t.Number("[PAD]"); ok {
			p.Padding = &id
		}
		if err := dir.Write(checkpoint.VocabularyFile, t.Text()); err != nil {
			return err
		}
		about := map[string]any{"tokenizer_class": "BertTokenizer", "do_lower_case": !t.IsCased()}
		if n.IsBERT() {
			about["model_max_length"] = p.Positions
		}
		if err := dir.WriteJSON(checkpoint.TokenizerConfigFile, about); err != nil {
			return err
		}
	}
	if !n.IsBERT() {
		return nil
	}
	return dir.WriteJSON(checkpoint.ConfigFile, p)
}
