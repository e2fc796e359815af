package job

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
)

// EditedError says that the files of an ended run were changed after its end, so that it does not go on: its
// new summary would give them a seal.
type EditedError struct {
	What    string // was changed, in a sentence
	Weights string // path of those with which another run may start
}

// Error says what was changed, and what to do instead.
func (e *EditedError) Error() string {
	return fmt.Sprintf("--resume: %s The run does not go on; --weights %s starts another run from its "+
		"weights", e.What, spelling.Word(e.Weights))
}

// checkEdited refuses to resume a run that has ended and whose summary or steps were changed since. Steps
// that were removed altogether, as to make room, tell nothing that is not so.
func checkEdited(c setting.Config, from *resumption) error {
	d := rundir.Directory(c.Out)
	s := readSummary(d)
	if s == nil {
		return nil
	}
	what := s.Broken()
	if what != "" {
		what = rundir.SummaryFile + " " + what
	} else if info, err := os.Stat(d.Path(rundir.StepsFile)); err == nil && info.Size() > 0 &&
		s.StepsSHA256 != "" {
		sum, err := d.StepsSHA256()
		if err != nil {
			return err
		}
		if sum != s.StepsSHA256 {
			what = rundir.StepsFile + " is not what it was at the end of the run: some of its lines were " +
				"changed, added or removed."
		}
	}
	if what == "" {
		return nil
	}
	return &EditedError{what, from.Path}
}

// readSummary returns the summary of the run in d; nil if there is none that can be read.
func readSummary(d rundir.Directory) *record.Summary {
	text, err := os.ReadFile(d.Path(rundir.SummaryFile))
	s := &record.Summary{}
	if err != nil || json.Unmarshal(text, s) != nil {
		return nil
	}
	return s
}

// finished returns the summary of the run in c.Out if it has ended and c asks for no more steps; else nil.
func finished(c setting.Config, k kept) *record.Summary {
	d := rundir.Directory(c.Out)
	s := readSummary(d)
	if s == nil || s.Steps != k.Progress.Step {
		return nil // not ended, or not with this checkpoint
	}
	if _, err := os.Stat(d.Path(checkpoint.WeightsFile)); c.Save && err != nil {
		return nil
	}
	if !isOver(c, k) {
		return nil
	}
	s.Target, s.IsUnchanged = targetOf(c, k.Evaluations), true
	moveTo(s, c.Out)
	if s.Seal != "" {
		s.TakeSeal()
	}
	return s
}

// moveTo lets the paths of a summary that lie in the run's directory be those of the folder that was opened,
// to which it may have been copied.
func moveTo(s *record.Summary, folder string) {
	var paths []*string
	if s.Saved != nil {
		paths = append(paths, &s.Saved.Path)
	}
	if s.Checkpoints != nil {
		paths = append(paths, &s.Checkpoints.Last)
	}
	if s.Resumed != nil {
		paths = append(paths, &s.Resumed.From)
	}
	for _, path := range paths {
		name, err := filepath.Rel(s.Directory, *path)
		if *path != "" && err == nil && filepath.IsLocal(name) {
			*path = filepath.Join(folder, name)
		}
	}
	s.Directory = folder
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
