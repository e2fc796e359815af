package chooser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/regular"
	"lockstep/model"
	"lockstep/optim"
)

// Run executes the run that c describes as [launcher.Run] does, after it has decided what c leaves to auto.
func Run(ctx context.Context, c setting.Config, o launcher.Options) (*record.Summary, error) {
	o.Choose = Choose
	return launcher.Run(ctx, c, o)
}

// Choose decides the strategy of a run where it is auto; it is a [launcher.Choose].
func Choose(ctx context.Context, given setting.Config, o launcher.Options) (launcher.Choice, error) {
	done := launcher.Choice{Config: given, Origins: o.Origins}
	return done, chooseStrategy(ctx, &done, o)
}

// prober makes short runs of one configuration.
type prober struct {
	config  setting.Config
	folder  string
	options launcher.Options
	runs    int
}

// withProber calls use with a prober of c, whose files are removed then.
func withProber(c setting.Config, o launcher.Options, use func(*prober) error) error {
	folder, remove, err := regular.MakeFolder("", "probe")
	if err != nil {
		return fmt.Errorf("job: probe the machines: %w", err)
	}
	defer remove()
	return use(&prober{config: brief(c), folder: folder,
		options: launcher.Options{Environment: o.Environment, Worker: o.Worker, Server: o.Server}})
}

// brief returns c as a short run: no evaluation, no files, no schedule that wants to know the length. Its
// data are as many samples as a few steps take, its steps take as long. They change no weight, so that none
// diverges that a schedule would have kept from it.
func brief(c setting.Config) setting.Config {
	c.Vocab = c.DataOptions(nil).Vocabulary // may lie beside Weights
	c.Optimizer.LR = 0
	c.Epochs, c.Steps, c.For, c.Until, c.EvalEvery = 0, 0, "", 0, 0
	c.Save, c.Trace, c.Spans, c.CheckpointEvery, c.Resume = false, false, false, "", ""
	c.Weights, c.FreshHead = "", c.FreshHead && model.IsFile(c.Model)
	c.Schedule, c.Lookahead = optim.ScheduleConfig{Name: "constant"}, optim.LookaheadConfig{}
	if few := 4 * c.StepBatch(); c.LimitTrain < 0 || c.LimitTrain > few {
		c.LimitTrain = few
	}
	c.LimitTest = 0
	return c
}

// run makes a short run and returns its summary. Its error names no log of the short run, which is removed.
func (p *prober) run(ctx context.Context, c setting.Config, o launcher.Options) (*record.Summary, error) {
	p.runs++
	c.Out = filepath.Join(p.folder, fmt.Sprint(p.runs))
	s, err := launcher.Run(ctx, c, o)
	if ended := (*job.EndedError)(nil); errors.As(err, &ended) {
		err = ended.Unwrap()
	}
	if lost := (*cluster.WorkerError)(nil); errors.As(err, &lost) {
		lost.Log = ""
	}
	return s, err
}
