package input

import (
	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/internal/spelling"
)

// checkAverages refuses a resumed run in which the workers could not each go on with a state of their own.
func checkAverages(c, from setting.Config) error {
	switch {
	case !c.Averages() && !from.Averages():
		return nil
	case c.Strategy != from.Strategy:
		return setting.Refuse("--strategy: a run of %s cannot go on as %s: workers that average their "+
			"weights each have a state of their own; start a new run with --weights", from.Strategy,
			c.Strategy)
	case c.Workers != from.Workers:
		return setting.Refuse("--workers: each of the %d workers of --strategy %s has an optimizer of its "+
			"own, and the result depends on their number; want %d", from.Workers, c.Strategy, from.Workers)
	}
	return nil
}

// Start is a checkpoint or a file of weights to start from; without either, parameters are initialized
// at random.
type Start struct {
	Weights *weights        `json:"weights"`
	Resumed *job.Resumption `json:"resumed"`
}

// Open opens and verifies the checkpoint or the weights that the run starts from.
func Open(c setting.Config, note func(string)) (b Start, err error) {
	path := c.Weights
	if c.Resume != "" {
		if b.Resumed, err = job.OpenNewest(rundir.Directory(c.Resume), note); err != nil {
			return b, err
		}
		if err = checkLength(c, b.Resumed.Kept); err != nil {
			return b, err
		}
		if err = checkMemory(c, b.Resumed.Kept.Config); err != nil {
			return b, err
		}
		if err = checkAverages(c, b.Resumed.Kept.Config); err != nil {
			return b, err
		}
		path = b.Resumed.Path // normalise images as before
	}
	if path != "" {
		b.Weights, err = OpenWeights(path)
	}
	return b, err
}

// checkLength refuses a length that the run has already passed.
func checkLength(c setting.Config, k job.Kept) error {
	if c.For != "" || k.Progress.Step <= c.NumSteps(k.TrainSamples) {
		return nil
	}
	if c.Steps > 0 {
		return setting.Refuse("--steps: the run that is resumed has done %d steps, want at least as many, "+
			"got %d", k.Progress.Step, c.Steps)
	}
	return setting.Refuse("--epochs: the run that is resumed has done %d steps, want at least as many, got "+
		"%s, which are %d", k.Progress.Step, spelling.Count(c.Epochs, "epoch"), c.NumSteps(k.TrainSamples))
}

// checkMemory refuses a change of workers that would lose the residuals of error feedback.
func checkMemory(c, from setting.Config) error {
	if !from.HoldsBack() || c.HoldsBack() {
		return nil
	}
	return setting.Refuse("--workers: one worker exchanges nothing, and "+
		"would lose the gradients that %d held back with --wire %s; want at least 2", from.Workers, from.Wire)
}
