package launcher

import (
	"errors"
	"fmt"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/optim"
)

// changes lists the reasons why a run resumed from k will not end with the bits of an uninterrupted run.
func changes(c setting.Config, k job.Kept) []string {
	var texts []string
	if was := k.Config; was.IsOnGPU() != c.IsOnGPU() {
		texts = append(texts, fmt.Sprintf("--device %s (math %s) in place of %s (math %s): they round "+
			"differently, so the run will not end with the parameters that it would have had", c.Device,
			c.Math, was.Device, was.Math))
	}
	step := k.Progress.Step
	if step == 0 || c.For != "" || k.Config.For != "" {
		return texts
	}
	if c.Averages() && step == k.Config.NumSteps(k.TrainSamples) &&
		step%c.StepsPerEpoch(k.TrainSamples) != 0 {
		texts = append(texts, fmt.Sprintf("the run had ended with an average after step %d, which a longer "+
			"run would not have taken", step))
	}
	was, err := ratesOf(k.Config, k)
	now, failed := ratesOf(c, k)
	if errors.Join(err, failed) == nil && was.Rate(step-1) != now.Rate(step-1) {
		texts = append(texts, fmt.Sprintf("the schedule %s now has %d steps, not %d: the learning rate goes "+
			"from %.4g in step %d to %.4g in step %d", c.Schedule.Name,
			c.NumSteps(k.TrainSamples), k.Config.NumSteps(k.TrainSamples), was.Rate(step-1), step,
			now.Rate(step), step+1))
	}
	return texts
}

// ratesOf returns the learning rates of a run over the data of k.
func ratesOf(c setting.Config, k job.Kept) (optim.Schedule, error) {
	return c.Schedule.Build(c.UpdateRule().LR, c.NumSteps(k.TrainSamples), c.StepsPerEpoch(k.TrainSamples))
}
