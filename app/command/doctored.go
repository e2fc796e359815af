package command

import (
	"path/filepath"

	"lockstep/app/analysis"
	"lockstep/app/bench"
	"lockstep/app/record"
	"lockstep/app/report"
)

// doctoredError says that what a file tells contradicts itself or the files beside it, so that nothing was
// made of it. It ends the program with job.ExitCheck.
type doctoredError struct {
	path  string
	wrong []string
}

// Error lists the contradictions, one a line.
func (e *doctoredError) Error() string {
	text := e.path + " contradicts itself, or the files beside it, so one was changed after it was " +
		"written; nothing is made of it"
	for _, one := range e.wrong {
		text += "\nrefused: " + analysis.Plain(one)
	}
	return text
}

// refuseDoctored fails with a *doctoredError if the results in a folder, which c compares, contradict
// themselves or the raw samples that their runs have left there.
func refuseDoctored(folder string, r *record.Results, c *analysis.Comparison) error {
	wrong, err := bench.Contradictions(folder, r, c)
	switch {
	case len(wrong) > 0: // which say more than files that cannot be read
	case err != nil:
		return usagef("%v; move the folder of that run away to go without it", err)
	default:
		return nil
	}
	return &doctoredError{filepath.Join(folder, report.ResultsFile), wrong}
}
