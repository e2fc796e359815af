package launcher

import (
	"fmt"
	"os"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
)

// recovered gives a run that had ended its files back if an earlier resumption was killed, while no other
// process changes them.
func recovered(d rundir.Directory, from *job.Resumption) error {
	unlock, err := rundir.Lock(string(d))
	if err != nil {
		return &rundir.FolderError{Flag: "resume", Reason: err.Error()}
	}
	defer unlock()
	if err := d.Recover(from.Kept.Progress.Step); err != nil {
		return fmt.Errorf("run directory: resume: %w", err)
	}
	return nil
}

// finished returns the summary of the run in c.Out if it has ended and c asks for no more steps; else nil.
func finished(c setting.Config, k job.Kept) *record.Summary {
	d := rundir.Directory(c.Out)
	s, err := d.Summary()
	if err != nil || s.Steps != k.Progress.Step {
		return nil // not ended, or not with this checkpoint
	}
	if _, err := os.Stat(d.Path(checkpoint.WeightsFile)); c.Save && err != nil {
		return nil
	}
	if !isOver(c, k) {
		return nil
	}
	s.Target, s.IsUnchanged = job.TargetOf(c, k.Evaluations), true
	s.Directory = c.Out // to which it may have been copied
	return s
}

// isOver reports whether a run at k has reached the length or the target of c.
func isOver(c setting.Config, k job.Kept) bool {
	was, target := k.Config, job.TargetOf(c, k.Evaluations)
	isSame := c.Steps == was.Steps && c.Epochs == was.Epochs && c.For == was.For && c.Until == was.Until
	isReached := target != nil && target.IsReached
	return isSame || isReached || c.For == "" && k.Progress.Step == c.NumSteps(k.TrainSamples)
}

// nothingToDo says why a run that is resumed does nothing.
func nothingToDo(s *record.Summary) string {
	return fmt.Sprintf("nothing to do: the run in %s has ended, after %s; a greater --steps, --epochs, "+
		"--for or --until makes it go on", s.Directory, spelling.Count(s.Steps, "step"))
}
