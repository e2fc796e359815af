package job

import (
	"encoding/json"
	"fmt"
	"os"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
)

// finished returns the summary of the run in c.Out if it has ended and c asks for no more steps; else nil.
func finished(c setting.Config, k kept) *record.Summary {
	d := rundir.Directory(c.Out)
	text, err := os.ReadFile(d.Path(rundir.SummaryFile))
	s := &record.Summary{}
	if err != nil || json.Unmarshal(text, s) != nil || s.Steps != k.Progress.Step {
		return nil // not ended, or not with this checkpoint
	}
	if _, err := os.Stat(d.Path(checkpoint.WeightsFile)); c.Save && err != nil {
		return nil
	}
	if !isOver(c, k) {
		return nil
	}
	isIntact := s.Seal != "" && s.Broken() == ""
	s.Directory, s.Target, s.IsUnchanged = c.Out, targetOf(c, k.Evaluations), true
	if isIntact {
		s.TakeSeal()
	}
	return s
}

// isOver reports whether a run at k has reached the length or the target of c.
func isOver(c setting.Config, k kept) bool {
	was, target := k.Config, targetOf(c, k.Evaluations)
	isSame := c.Steps == was.Steps && c.Epochs == was.Epochs && c.For == was.For && c.Until == was.Until
	isReached := target != nil && target.IsReached
	return isSame || isReached || c.For == "" && k.Progress.Step == k.length(c)
}

// nothingToDo says why a run that is resumed does nothing.
func nothingToDo(s *record.Summary) string {
	return fmt.Sprintf("nothing to do: the run in %s has ended, after %s; a greater --steps, --epochs, "+
		"--for or --until makes it go on", s.Directory, spelling.Count(s.Steps, "step"))
}
