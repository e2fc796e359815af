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
	"lockstep/graph"
	"lockstep/infer"
	"lockstep/tensor"
	"lockstep/train"
)

// Trained is a trained network in use, and how its inputs are read.
type Trained struct {
	*infer.Predictor
	Images data.Reader    // of a network for images
	Config setting.Config // of the run, or what is known of weights that are no run
}

// OpenTrained opens the network at path: the folder of a run or, if base names a model, weights. base has
// settings of weights that are no run, and the catalog of the program. use says how to compute. Errors are
// those of weights and a *setting.UsageError for what is neither.
func OpenTrained(path string, base setting.Config, use infer.Config) (*Trained, error) {
	c, err := configOf(path, base)
	if err != nil {
		return nil, err
	}
	c.Weights, c.Resume, c.EvalOnly, c.FreshHead, c.Data = path, "", true, false, "the inputs"
	c.Normalize = setting.Default().Normalize // as the weights say
	start, err := Open(c, func(string) {})
	if err != nil {
		return nil, err
	}
	t, err := forInputs(c, start)
	if err != nil {
		return nil, err
	}
	use.Network, use.Classes, use.Mean, use.Std = t.Network, t.Train.Classes, t.Train.Mean, t.Train.Std
	use.Table = t.Train.Table
	if t.Train.Texts != nil {
		use.Tokenizer = t.Train.Texts.Tokenizer
	}
	if math, err := compute.ParseMath(c.Math); err == nil { // a GPU's ways are not the processor's
		use.Math = math
	}
	use.Load = func(v *graph.Variables) error {
		return job.WithFile(start.Weights.Path, func(r *checkpoint.Reader) error {
			_, err := checkpoint.Load(r, v, checkpoint.LoadOptions{Optional: t.Network.Optional()})
			return err
		})
	}
	p, err := infer.New(use)
	if err != nil {
		return nil, err
	}
	shape := t.Network.Input
	return &Trained{p, data.Reader{Side: shape[0], IsGrey: shape[len(shape)-1] == 1}, c}, nil
}

// configOf returns the configuration of the run at path or, for weights, base.
func configOf(path string, base setting.Config) (setting.Config, error) {
	file := filepath.Join(path, rundir.ConfigFile)
	if _, err := os.Stat(file); err != nil {
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
	m, err := start.meaning()
	if err != nil {
		return t, err
	}
	shape := tensor.Shape(slices.Clone(m.Input))
	switch {
	case c.Models().ReadsTexts(c.Model):
		shape = tensor.Shape{c.Sequence}
	case shape == nil:
		shape = tensor.Shape{c.Size, c.Size, max(1, len(m.Mean))}
		if m.Mean == nil {
			shape[2] = 3
		}
	}
	classes := m.Classes
	if classes == nil {
		classes = numbersTo(1) // the first of those that have numbers
	}
	set, err := data.Unlabelled(classes, shape, c.DataOptions(nil))
	if err != nil {
		return t, err
	}
	set.Table = m.Table
	t = Task{Train: set, Start: start, Learns: train.Classification(0)}
	if err := normalize(c, set, m); err != nil {
		return t, err
	}
	return t, t.build(c, m)
}
