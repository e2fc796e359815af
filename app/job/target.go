package job

import (
	"fmt"

	"lockstep/app/setting"
)

// Target says whether a run has reached the accuracy that it was to reach, and what it took by the
// evaluation that showed it, or by the last one. The clock is that of rank 0.
//
// Training seconds begin before the first step, when programs, memory and the data set are ready and
// all workers have met, and count all wall time from there but that of evaluations: waiting for data
// and for other workers, the preparation of layers by training data, copying for checkpoints. Those
// of all parts of a resumed run count. Evaluation seconds are those of all evaluations so far.
type Target struct {
	Accuracy          float64 `json:"accuracy"`
	IsReached         bool    `json:"is_reached"`
	Best              float64 `json:"best"` // accuracy of all evaluations
	Steps             int     `json:"steps"`
	Epochs            float64 `json:"epochs"`
	TrainSeconds      float64 `json:"train_seconds"`
	EvaluationSeconds float64 `json:"evaluation_seconds"`
}

// targetOf returns what came of c.Until; nil if there is none.
func targetOf(c setting.Config, evaluations []Evaluation) *Target {
	want := c.Until
	if want == 0 {
		return nil
	}
	t := &Target{Accuracy: want}
	for _, e := range evaluations {
		t.Best = max(t.Best, e.Accuracy)
		t.Steps, t.Epochs, t.TrainSeconds = e.Steps, e.Epochs, e.TrainSeconds
		t.EvaluationSeconds += e.Seconds
		if e.Accuracy >= want {
			t.IsReached = true
			break
		}
	}
	return t
}

// MissedError says that a run ended without having reached its target. Its summary is complete.
type MissedError struct{ Target Target }

// Error says what was wanted and what was reached.
func (e *MissedError) Error() string {
	t := e.Target
	return fmt.Sprintf("--until: accuracy %.4g not reached: %.4g at best, in %d steps (%.4g epochs) and "+
		"%.2f s of training", t.Accuracy, t.Best, t.Steps, t.Epochs, t.TrainSeconds)
}
