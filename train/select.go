package train

import (
	"errors"
	"math"
	"slices"

	"lockstep/metric"
	"lockstep/optim"
	"lockstep/trace"
)

// Note: selection
//
// Weights and the end of a run are chosen by evaluations on validation samples, never on those of the test.
// Every worker has the same counts and outputs of all samples, bit by bit, and so computes the same figure
// and decides alike, without asking the others. What was decided is part of the progress of a run, and with
// Restore the best weights are part of its state, so that a resumed run decides as one without interruption.

// Selection says how evaluations on the validation samples choose the weights that a run ends with, and when
// it ends. The zero value chooses nothing.
type Selection struct {
	// By is what the best evaluation has most of; nil means that nothing is chosen. Its result must depend on
	// the evaluation alone; one that is not a number is never the best. By returns some.
	By func(Evaluation) float64
	// Patience is the number of evaluations in a row without a better one that end the run; 0: none do.
	Patience int
	// Restore makes the run end with the weights of the best evaluation; it keeps a copy of them on every
	// worker. Test samples are then evaluated once, with these weights.
	Restore bool
}

// by is a figure to choose by, of which there should be much.
type by struct {
	name string
	of   func(Evaluation) float64
	// ofClasses and ofNumbers say what tasks have it.
	ofClasses, ofNumbers bool
}

// bys lists the figures that have a name.
func bys() []by {
	// An evaluation whose outputs were too many to gather has no such figure.
	of := func(of func(*metric.Predictions) float64) func(Evaluation) float64 {
		return func(e Evaluation) float64 {
			if e.Predictions == nil {
				return math.NaN()
			}
			return of(e.Predictions)
		}
	}
	type predictions = *metric.Predictions
	return []by{
		{"accuracy", Evaluation.Accuracy, true, false},
		{"rmse", of(func(p predictions) float64 { return -p.Errors().RMSE }), false, true}, // less is better
		{"loss", func(e Evaluation) float64 { return -e.Loss }, true, true},
		{"macro-f1", of(func(p predictions) float64 { return p.Confusion().Macro().F1 }), true, false},
		{"weighted-f1", of(func(p predictions) float64 { return p.Confusion().Weighted().F1 }), true, false},
		{"balanced-accuracy", of(func(p predictions) float64 { return p.Confusion().BalancedAccuracy() }),
			true, false},
		{"mae", of(func(p predictions) float64 { return -p.Errors().MAE }), false, true},
		{"r2", of(func(p predictions) float64 { return p.Errors().R2 }), false, true},
	}
}

// ByNames lists the names of figures to choose by, of tasks to tell classes, to predict numbers, or both: the
// usual one first. All but accuracy and loss need the predictions of all samples; see package metric.
func ByNames(ofClasses, ofNumbers bool) []string {
	var names []string
	for _, b := range bys() {
		if ofClasses && b.ofClasses || ofNumbers && b.ofNumbers {
			names = append(names, b.name)
		}
	}
	return names
}

// By returns the figure of that name; nil if there is none.
func By(name string) func(Evaluation) float64 {
	for _, b := range bys() {
		if b.name == name {
			return b.of
		}
	}
	return nil
}

// Best is the best evaluation of a run so far.
type Best struct {
	// Value is that of Selection.By.
	Value float64 `json:"value"`
	// Evaluation is the first with this value; its Samples are 0 if there was none.
	Evaluation Evaluation `json:"evaluation"`
	// Since is the number of evaluations after it.
	Since int `json:"since"`
}

// check returns what does not allow a choice.
func (s Selection) check(c Config) error {
	switch {
	case s.By == nil && (s.Patience != 0 || s.Restore):
		return errors.New("train: patience, or weights to restore, but nothing to choose by")
	case s.By == nil:
		return nil
	case s.Patience < 0:
		return errors.New("train: a negative patience")
	case c.Validation == nil || c.Validation.Len() == 0:
		return errors.New("train: no validation samples to choose by")
	case c.Isolated || c.WholeBatches:
		return errors.New("train: workers that do not share their steps would choose differently")
	}
	return nil
}

// chosen is the copy of the best weights; its vectors are empty if none are to be restored.
type chosen struct{ weights, state []float32 }

// newChosen makes room for the best weights, if they are to be restored.
func (l *Loop) newChosen() (c chosen) {
	if l.config.Selection.Restore {
		c.weights, c.state = l.variables.NewGradient(), make([]float32, len(l.variables.State))
	}
	return c
}

// vectors returns the copy as part of the state of a run; none if there is no copy.
func (c chosen) vectors() (weights, statistics []optim.Vector) {
	if c.weights == nil {
		return nil, nil
	}
	return []optim.Vector{{Name: "best", Data: c.weights}}, []optim.Vector{{Name: "best", Data: c.state}}
}

// choose notes an evaluation on the validation samples, and whether it is the best.
func (l *Loop) choose(e *Evaluation) error {
	s, b := l.config.Selection, &l.done.Best
	if s.By == nil || !e.IsValidation {
		return nil
	}
	value := s.By(*e)
	isFirst := b.Evaluation.Samples == 0 && !math.IsNaN(value)
	if !isFirst && !(value > b.Value) {
		b.Since++
		return nil
	}
	e.IsBest = true
	*b = Best{Value: value, Evaluation: *e}
	b.Evaluation.Predictions = nil // whose memory the next evaluation takes
	b.Evaluation.Metrics = slices.Clone(e.Metrics)
	if err := l.settleWeights(); err != nil {
		return err
	}
	copy(l.chosen.weights, l.variables.Weights)
	copy(l.chosen.state, l.variables.State)
	return nil
}

// isExhausted reports whether no evaluation was better for as long as patience goes.
func (l *Loop) isExhausted() bool {
	p := l.config.Selection.Patience
	return p > 0 && l.done.Best.Since >= p
}

// restore ends a run with the weights of the best evaluation, and evaluates the test samples with them.
func (l *Loop) restore() error {
	best := l.done.Best.Evaluation
	if !l.config.Selection.Restore || best.Samples == 0 || !l.isOver {
		return nil
	}
	if err := l.settleWeights(); err != nil {
		return err
	}
	copy(l.variables.Weights, l.chosen.weights)
	copy(l.variables.State, l.chosen.state)
	l.changed()
	l.done.Validation, l.isRestored = best, true
	if l.config.Test == nil {
		return nil
	}
	return l.evaluate(l.config.Test, trace.Evaluation)
}
