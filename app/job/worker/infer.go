package worker

import (
	"context"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/checkpoint"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/metric"
	"lockstep/train"
)

// Inputs makes a set of samples without labels for weights that say this of themselves, their classes named.
type Inputs func(d checkpoint.Description) (*data.Set, error)

// Infer computes what the trained network of c, at c.Weights, says of samples, and returns its classes too,
// with all cores of this machine. Errors are those of weights and of samples.
func Infer(ctx context.Context, c setting.Config, samples Inputs) (p metric.Predictions, classes []string,
	err error) {
	c.Workers, c.Shards, c.Strategy, c.Link, c.EvalOnly = 1, 1, strategy.Single, "local", true
	c.Threads, c.Device, c.ISA, c.LimitTest = host.Cores(), setting.DeviceCPU, compute.Best().String(), -1
	c.Data = "the inputs"
	start, err := input.Open(c, func(string) {})
	if err != nil {
		return p, nil, err
	}
	var d checkpoint.Description
	err = job.WithFile(c.Weights, func(r *checkpoint.Reader) error {
		err := input.Explain(r, c.Weights)
		if err == nil {
			d, err = r.Describe()
		}
		return err
	})
	if err != nil {
		return p, nil, err
	}
	if d.Classes == nil {
		d.Classes = []string{"0"} // the first of those that have numbers
	}
	set, err := samples(d)
	if err != nil {
		return p, nil, err
	}
	t, err := input.ForSamples(c, set, start)
	if err != nil {
		return p, nil, err
	}
	err = Bare(c, t, 0, nil, func(l *train.Loop) error {
		done, err := l.Run(ctx, silent{})
		if err == nil && done.Test.Predictions != nil {
			p = *done.Test.Predictions
		}
		return err
	})
	return p, t.Train.Classes, err
}

// silent is a train.Sink that hears nothing.
type silent struct{}

func (silent) Step(train.Step)             {}
func (silent) Evaluation(train.Evaluation) {}
