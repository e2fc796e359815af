package job

import (
	"fmt"

	"lockstep/app/record"
	"lockstep/app/setting"
)

// TargetOf returns the record of the target c.Until; nil if there is none.
func TargetOf(c setting.Config, evaluations []record.Evaluation) *record.Target {
	want := c.Until
	if want == 0 {
		return nil
	}
	t := &record.Target{Accuracy: want}
	for _, e := range record.Followed(evaluations) {
		t.Best = max(t.Best, float64(e.Accuracy))
		t.Steps, t.Epochs, t.TrainSeconds = e.Steps, e.Epochs, e.TrainSeconds
		t.EvaluationSeconds += e.Seconds
		if float64(e.Accuracy) >= want {
			t.IsReached = true
			break
		}
	}
	return t
}

// MissedError says that a run ended without having reached its target. Its summary is complete.
type MissedError struct{ Target record.Target }

// Error names the target and the best accuracy.
func (e *MissedError) Error() string {
	t := e.Target
	return fmt.Sprintf("--until: accuracy %.4g not reached: %.4g at best, in %d steps (%.4g epochs) and "+
		"%.2f s of training", t.Accuracy, t.Best, t.Steps, t.Epochs, t.TrainSeconds)
}
