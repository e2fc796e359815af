package analysis

import (
	"fmt"
	"math"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// evaluated remembers what the models that runs ended with reached on the test set.
type evaluated map[string]score

// score is what a model reached, and in which run.
type score struct {
	where          string
	accuracy, loss float64
}

// add says if a run ended with the parameters of another one and did not do as well on the same test set. An
// evaluation is the same for equal weights, however many workers share its samples.
func (e evaluated) add(where string, row *record.Row, run *record.Run) string {
	n := len(run.Evaluations)
	if run.ParameterSHA256 == "" || run.TestAccuracy == nil || n == 0 ||
		strategy.Named(row.Setting.Strategy).IsFloor {
		return ""
	}
	last := run.Evaluations[n-1]
	key := fmt.Sprint(row.Setting.Model, row.Setting.Data, row.Setting.Condition, run.ParameterSHA256,
		run.TestSamples, run.ISA, last.Steps, last.Views)
	c := configOf(run)
	for _, name := range []string{"limit-test", "tta", "ema", "lookahead", "math", "size", "normalize",
		"sequence", "label-smoothing"} {
		key += fmt.Sprint(" ", c[name])
	}
	is := score{where, *run.TestAccuracy, float64(last.Loss)}
	was, isKnown := e[key]
	if !isKnown {
		e[key] = is
		return ""
	}
	isSame := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	if isSame(is.accuracy, was.accuracy) && isSame(is.loss, was.loss) {
		return ""
	}
	return fmt.Sprintf("its parameters are those of %s, and it has an accuracy of %v and a loss of %.6g on "+
		"the same test set, not of %v and %.6g.", was.where, is.accuracy, is.loss, was.accuracy, was.loss)
}

// fitsTime says if a part of a run took longer than the whole: an evaluation ended after the run, or training
// before it took longer than all training. The slowest of workers on their own tells the times of a run, and
// each has evaluations.
func fitsTime(row *record.Row, run *record.Run) string {
	isLonger := func(part, whole float64) bool { return part > whole*(1+1e-6)+1e-6 } // rounded
	isTold := run.Wall > 0 || run.Seal != ""
	if isTold && isLonger(run.Seconds, run.Wall) {
		return fmt.Sprintf("it took %.6g s, and %.6g s with starting and ending its processes.", run.Seconds,
			run.Wall)
	}
	if strategy.Named(row.Setting.Strategy).IsFloor {
		return ""
	}
	if isLonger(run.TrainSeconds, run.Seconds) {
		return fmt.Sprintf("it trained for %.6g s, and took %.6g s.", run.TrainSeconds, run.Seconds)
	}
	for _, e := range run.Evaluations {
		switch {
		case e.Rank != 0:
		case isLonger(e.TrainSeconds, run.TrainSeconds):
			return fmt.Sprintf("it trained for %.6g s, and for %.6g s before an evaluation.",
				run.TrainSeconds, e.TrainSeconds)
		case isLonger(e.WallSeconds, run.Seconds):
			return fmt.Sprintf("it took %.6g s, and an evaluation ended after %.6g s.", run.Seconds,
				e.WallSeconds)
		}
	}
	return ""
}
