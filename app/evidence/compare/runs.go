package compare

import (
	"lockstep/app/evidence/stat"
	"math"
	"slices"

	"lockstep/app/record"
)

// RunLine is one successful run of a line.
type RunLine struct {
	*record.Run
	Step      float64   // seconds of a step after the first: median, or the mean of rows that share steps
	First     float64   // seconds of the first step
	PerSecond float64   // samples of all steps after the first over the sum of their times
	LossLast  float64   // of the last step; NaN: on a batch of its own, see [Line.Repeats]
	Times     []float64 // seconds of each step, from the end of the last rank to that of the next
	IsCounted bool      // its times count, because others took no cores from it
}

// Runs returns the successful runs of the line, by round.
func (l *Line) Runs() []RunLine {
	var out []RunLine
	for _, r := range l.runs {
		one := RunLine{Run: r, Step: stat.Median(timed(r)), First: math.NaN(), LossLast: math.NaN(),
			PerSecond: l.rate(r), Times: stepSeconds(r), IsCounted: !r.Taken.IsDisturbed()}
		if l.isMean() {
			one.Step = meanStep(r, l.Setting.Batch)
		}
		if len(one.Times) > 0 {
			one.First = one.Times[0]
		}
		if loss := lossOf(r); len(loss) > 0 && l.repeatsOf(r) == 0 {
			one.LossLast = loss[len(loss)-1]
		}
		out = append(out, one)
	}
	return out
}

// PhaseShares returns the share of a step that some phases take in each run that counts; nil if runs do not
// tell.
func (l *Line) PhaseShares(of ...string) (out []float64) {
	for _, r := range l.counted() {
		if phases := l.meanPhases([]*record.Run{r}); phases != nil {
			all := sumOf(phases)
			for i, name := range Phases() {
				if !slices.Contains(of, name) {
					phases[i] = 0
				}
			}
			out = append(out, sumOf(phases)/all)
		}
	}
	return out
}

// sumOf returns the sum of x.
func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// counted returns the runs whose times count.
func (l *Line) counted() []*record.Run {
	return slices.DeleteFunc(slices.Clone(l.runs), func(r *record.Run) bool {
		return r.Taken.IsDisturbed() && !l.Disturbed
	})
}

// Interval returns the interval of the step over the runs that count.
func (l *Line) Interval() stat.Interval {
	return l.Noise.Interval(l.stepByRound)
}

// summarizePlaces fills the samples at which a run had its losses. Where ranks tell their own samples only,
// the places are scaled to those of the run.
func (l *Line) summarizePlaces(r *record.Run) {
	if len(r.Ranks) == 0 {
		return
	}
	samples := 0.0
	for i := range l.Loss {
		if all := r.Ranks[0].Steps.Samples; i < len(all) {
			samples += float64(all[i])
		}
		l.LossSamples = append(l.LossSamples, samples)
	}
	if samples > 0 && r.Samples > 0 {
		for i := range l.LossSamples {
			l.LossSamples[i] *= float64(r.Samples) / samples
		}
	}
}

// hiddenOf returns the mean over runs and ranks of the communication that computation hid in a step, without
// the share of that computation in which threads had no core: that was no communication. NaN: no rank tells.
func (l *Line) hiddenOf(runs []*record.Run) float64 {
	var all []float64
	for _, r := range runs {
		for _, rank := range r.Ranks {
			waits, _ := rank.Steps.CoreWaits(l.Setting.Threads)
			beside := sumOf(rank.Steps.Phases["forward"]) + sumOf(rank.Steps.Phases["backward"])
			all = append(all, known(rank.Hidden)*(1-sumOf(waits)/max(beside, 1e-12)))
		}
	}
	return stat.Mean(all)
}
