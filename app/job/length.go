package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseTime reads a time such as 30s; "" is none.
func parseTime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no time such as 30s or 5m", text)
}

// targetPrefix stands before the accuracy in --until.
const targetPrefix = "accuracy="

// parseTarget reads accuracy=0.94; "" is none.
func parseTarget(text string) (accuracy float64, err error) {
	if text == "" {
		return 0, nil
	}
	number, isAccuracy := strings.CutPrefix(text, targetPrefix)
	x, err := strconv.ParseFloat(number, 64)
	if !isAccuracy || err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("%q is no accuracy above 0 to 1 such as accuracy=0.94", text)
	}
	return x, nil
}

// lengthProblems adds what is wrong with the settings of the run's length, each of which is valid.
func (c Config) lengthProblems(add func(name, format string, args ...any)) {
	if c.Epochs > 0 && c.Steps > 0 {
		add("steps", "the length is given twice, as %d steps and as %d epochs; leave one out",
			c.Steps, c.Epochs)
	}
	switch {
	case c.For == "":
	case c.Epochs > 0 || c.Steps > 0:
		add("for", "the length is given twice, as %s and by --epochs or --steps; leave one out", c.For)
	case c.Schedule.WantsLength():
		add("for", "the schedule %s wants to know the number of steps; give --epochs or --steps, or "+
			"--schedule constant", c.Schedule.Name)
	case c.Lookahead.Power > 0:
		add("for", "--lookahead %s wants to know the number of steps", c.Lookahead)
	}
	switch {
	case c.Until == 0:
	case c.LimitTest == 0:
		add("until", "has nothing to evaluate with --limit-test 0")
	case c.isIsolated():
		add("until", "wants replicas that are equal; those of --strategy none are not")
	}
}

// remaining returns how long a run whose length is a time has to go on after so much training; 0 if its
// length is no time.
func (c Config) remaining(trained time.Duration) time.Duration {
	length, _ := parseTime(c.For) // its error is a problem of Validate's
	if length == 0 {
		return 0
	}
	return max(length-trained, time.Nanosecond)
}

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

// target returns what came of c.Until; nil if there is none.
func (c Config) target(evaluations []Evaluation) *Target {
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
