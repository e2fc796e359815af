package compare

import (
	"math"
	"slices"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// SameAccuracy is the difference of accuracies, in fractions of the samples, that "the same" allows.
const SameAccuracy = 0.005

// Accuracy holds the accuracies of a line on the test set, as fractions, over its seeds. Where a line is not
// exact they are what it can be compared by.
type Accuracy struct {
	Samples Estimate // at equal samples: at the end
	Time    Estimate // at equal time: when the first rival of the group had finished, in the same round
	Limit   float64  // that time in seconds of training, median over rounds; NaN: unknown

	Reference   *Line // exact line that accuracies are compared with; nil: none
	OverSamples Over  // how far Samples is above that of the reference
	OverTime    Over  // the same of Time

	Curve []Evaluated // in order; one that some run lacks ends it
}

// Estimate is a mean over seeds with its interval by Student's distribution.
type Estimate struct {
	Mean     float64 // NaN: unknown
	Interval stat.Interval
	Seeds    int // with a value
}

// Over is the difference of a line's accuracies and the reference's, seed by seed, of the seeds for which
// both are known.
type Over struct {
	Estimate
	Own float64 // mean of the line's accuracies, of the same seeds
}

// Evaluated is one evaluation of all seeds.
type Evaluated struct {
	Samples, Seconds float64 // trained so far; seconds are the mean
	Mean, Lo, Hi     float64 // accuracy: mean, lowest and highest
}

// Known reports whether there is a value.
func (e Estimate) Known() bool { return e.Seeds > 0 }

// estimate averages the values of each seed, then the seeds.
func estimate(bySeed map[uint64][]float64, coverage float64) Estimate {
	var means []float64
	for _, values := range bySeed {
		if m := stat.Mean(values); stat.IsFinite(m) {
			means = append(means, m)
		}
	}
	m := stat.MomentsOf(means) // which sorts them: sums must not depend on the order of a map
	return Estimate{Mean: m.Mean, Interval: m.MeanInterval(stat.Prior{}, coverage), Seeds: m.N}
}

// relateAccuracy fills the accuracies of the lines. The intervals of those that are not exact hold together.
func (g *Group) relateAccuracy() {
	limits := g.timeLimits()
	tests := 0.0 // at equal samples and at equal time
	for _, l := range g.Lines {
		if l.OK > 0 && l.isOther() && !l.isFloor() {
			tests += 2
		}
	}
	coverage := 1 - (1-stat.Confidence)/max(1, tests)
	atEnd := func(r *record.Run) float64 { return known(r.TestAccuracy) }
	inTime := func(r *record.Run) float64 { return accuracyAt(r, limits[r.Round]) }
	for _, l := range g.Lines {
		end, atTime := l.bySeed(atEnd), l.bySeed(inTime)
		l.Accuracy = Accuracy{Limit: stat.Median(limits), Curve: curve(l.runs),
			Samples: estimate(end, stat.Confidence), Time: estimate(atTime, stat.Confidence)}
		if r := g.reference(l); r != nil && l.isOther() && !l.isFloor() {
			l.Accuracy.Reference = r
			l.Accuracy.OverSamples = over(end, r.bySeed(atEnd), coverage)
			l.Accuracy.OverTime = over(atTime, r.bySeed(inTime), coverage)
		}
	}
}

// reference returns the line that another one's accuracy is compared with: of the exact ones that do the same
// work, which reach one result, the one with the shortest step; nil if there is none.
func (g *Group) reference(l *Line) (best *Line) {
	for _, r := range g.Lines {
		isExact := r.OK > 0 && r.Exact() && differences(l, r) == nil
		if isExact && (best == nil || !(best.Step.Median <= r.Step.Median)) {
			best = r
		}
	}
	return best
}

// timeLimits returns by round when the first line of several workers had finished its training; NaN where
// none did.
func (g *Group) timeLimits() []float64 {
	var limits []float64
	for _, l := range g.Lines {
		if limits == nil {
			limits = slices.Repeat([]float64{math.NaN()}, len(l.stepByRound))
		}
		for _, r := range l.runs {
			isTrained := l.Setting.Workers > 1 && !l.isFloor() && r.TrainSeconds > 0
			if isTrained && !(limits[r.Round] <= r.TrainSeconds) {
				limits[r.Round] = r.TrainSeconds
			}
		}
	}
	return limits
}

// bySeed returns a value of the runs by seed.
func (l *Line) bySeed(of func(*record.Run) float64) map[uint64][]float64 {
	all := map[uint64][]float64{}
	for _, r := range l.runs {
		all[l.seedOf(r)] = append(all[l.seedOf(r)], of(r))
	}
	return all
}

// accuracyAt returns a run's accuracy after so many seconds of training, on a straight line between two
// evaluations. It is not known before the first one, nor if there is only one.
func accuracyAt(r *record.Run, seconds float64) float64 {
	all := record.Followed(r.Evaluations)
	for i, e := range all {
		switch {
		case len(all) < 2 || i == 0 && e.TrainSeconds > seconds:
			return math.NaN()
		case e.TrainSeconds >= seconds && i > 0:
			before := all[i-1]
			part := (seconds - before.TrainSeconds) / (e.TrainSeconds - before.TrainSeconds)
			return float64(before.Accuracy) + part*float64(e.Accuracy-before.Accuracy)
		}
	}
	if len(all) == 0 || !stat.IsFinite(seconds) {
		return math.NaN()
	}
	return float64(all[len(all)-1].Accuracy)
}

// curve returns the evaluations that all runs have.
func curve(runs []*record.Run) []Evaluated {
	var points []Evaluated
	for i := 0; ; i++ {
		var samples, seconds, accuracy []float64
		for _, r := range runs {
			if all := record.Followed(r.Evaluations); i < len(all) {
				e := all[i]
				samples = append(samples, float64(e.Steps)*float64(r.Samples)/float64(r.Steps))
				seconds, accuracy = append(seconds, e.TrainSeconds), append(accuracy, float64(e.Accuracy))
			}
		}
		if len(accuracy) == 0 || len(accuracy) < len(runs) {
			return points
		}
		points = append(points, Evaluated{Samples: stat.Mean(samples), Seconds: stat.Mean(seconds),
			Mean: stat.Mean(accuracy), Lo: slices.Min(accuracy), Hi: slices.Max(accuracy)})
	}
}

// over relates the means by seed of a to those of b, which are of the reference.
func over(a, b map[uint64][]float64, coverage float64) Over {
	minus, own := map[uint64][]float64{}, map[uint64][]float64{}
	for seed, values := range a {
		if difference := stat.Mean(values) - stat.Mean(b[seed]); stat.IsFinite(difference) {
			minus[seed], own[seed] = []float64{difference}, values
		}
	}
	return Over{Estimate: estimate(minus, coverage), Own: estimate(own, coverage).Mean}
}
