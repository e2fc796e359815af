package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// EvaluationsFile has a line for each evaluation, written when that ends, so that a run that ends early
// leaves those that it made.
const EvaluationsFile = "evaluations.jsonl"

// AddEvaluation appends the line of an evaluation.
func (d Directory) AddEvaluation(e record.Evaluation) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.Path(EvaluationsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// cutEvaluations removes all lines but those of kept, the evaluations before the checkpoint from which a run
// goes on.
func (d Directory) cutEvaluations(kept []record.Evaluation) error {
	var want bytes.Buffer
	lines := json.NewEncoder(&want)
	for i := range kept {
		if err := lines.Encode(&kept[i]); err != nil {
			return err
		}
	}
	is, err := d.readEvaluations()
	switch {
	case bytes.Equal(is, want.Bytes()) && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return nil
	case want.Len() == 0:
		return present(os.Remove(d.Path(EvaluationsFile)))
	}
	return d.Write(EvaluationsFile, want.Bytes())
}

// maxLines is more than the bytes of a file of evaluations, or of the spans of a worker.
const maxLines = 1 << 30

func (d Directory) readEvaluations() ([]byte, error) {
	return regular.ReadFile(d.Path(EvaluationsFile), maxLines)
}

// Evaluations returns those of which the run directory has lines; older ones have no such file. It skips a
// line that was not written completely.
func (d Directory) Evaluations() (all []record.Evaluation, err error) {
	text, err := d.readEvaluations()
	if err = present(err); err != nil {
		return nil, fmt.Errorf("run directory: evaluations: %w", err)
	}
	for line := range bytes.Lines(text) {
		var e record.Evaluation
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all, nil
}
