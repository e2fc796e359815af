package analysis

import (
	"fmt"
	"maps"
	"slices"

	"lockstep/app/record"
)

// Bounds of what a run can have measured. NaN, which a null in the file becomes, is beyond each of them.
const (
	maxSeconds = 1e9  // 30 years
	maxCount   = 1e9  // epochs, shards, steps
	maxAmount  = 1e18 // bytes, samples, operations per second
	maxLatency = 1e6  // ns from core to core
	least      = -1e-9
)

// figure is a value of a run with what it can be at most. None is negative, but for rounding.
type figure struct {
	name  string
	value float64
	most  float64
}

// isOut reports whether nothing can have measured a figure.
func (f figure) isOut() bool { return !(f.value > least && f.value < f.most) }

// isInRange says if a figure of a run is no number, negative or greater than anything that is measured.
// Losses are not asked: those of a training that diverges are anything.
func isInRange(_ *record.Row, run *record.Run) string {
	for _, f := range append(runFigures(run), evaluationFigures(run)...) {
		if f.isOut() {
			return fmt.Sprintf("%s is %v, which nothing can have measured.", f.name, f.value)
		}
	}
	for _, rank := range run.Ranks {
		s := rank.Steps
		if rank.Hidden != nil && (figure{value: *rank.Hidden, most: maxSeconds}).isOut() {
			return fmt.Sprintf("the hidden communication of rank %d is %v s, which nothing can have "+
				"measured.", rank.Rank, *rank.Hidden)
		}
		if text := areStepsInRange(rank.Rank, s); text != "" {
			return text
		}
	}
	return ""
}

// runFigures lists the figures of a whole run.
func runFigures(run *record.Run) []figure {
	out := []figure{
		{"the time of the run", run.Seconds, maxSeconds},
		{"the time with starting and ending processes", run.Wall, maxSeconds},
		{"the time of training", run.TrainSeconds, maxSeconds},
		{"the number of steps", float64(run.Steps), maxCount},
		{"the number of samples", float64(run.Samples), maxAmount},
		{"the number of test samples", float64(run.TestSamples), maxAmount},
		{"the number of bytes sent", float64(run.BytesSent), maxAmount},
		{"the number of bytes received", float64(run.BytesReceived), maxAmount},
		{"the number of bytes without compression", float64(run.BytesVectors), maxAmount},
		{"the number of bytes of the busiest process", float64(run.BusiestBytes), maxAmount},
		{"the number of bytes of the busiest server", float64(run.ServerBytes), maxAmount},
		{"the memory", float64(run.PeakRSSBytes), maxAmount},
		{speedName(run), run.PeakFLOPs, maxAmount},
	}
	for _, v := range run.CoreLatency {
		out = append(out, figure{"a core-to-core latency in nanoseconds", v, maxLatency})
	}
	for _, v := range run.EpochSeconds {
		out = append(out, figure{"the time of an epoch", v, maxSeconds})
	}
	if run.Taken != nil {
		out = append(out, figure{"what other machines took of the cores", run.Taken.Stolen, 1 + 1e-6},
			figure{"what other processes took of the cores", run.Taken.Others, 1 + 1e-6})
	}
	for _, v := range []*float64{run.TrainAccuracy, run.TestAccuracy} {
		if v != nil {
			out = append(out, figure{"an accuracy", *v, 1 + 1e-6})
		}
	}
	return out
}

// evaluationFigures lists the figures of a run's evaluations.
func evaluationFigures(run *record.Run) []figure {
	var out []figure
	for _, e := range run.Evaluations {
		out = append(out, figure{"the time of an evaluation", e.Seconds, maxSeconds},
			figure{"the time of training before an evaluation", e.TrainSeconds, maxSeconds},
			figure{"the time until an evaluation ended", e.WallSeconds, maxSeconds},
			figure{"the number of steps before an evaluation", float64(e.Steps), maxCount},
			figure{"the number of epochs before an evaluation", e.Epochs, maxCount},
			figure{"an accuracy", e.Accuracy, 1 + 1e-6})
	}
	return out
}

// speedName names what PeakFLOPs of a run is the speed of.
func speedName(run *record.Run) string {
	if isGPU(run.Device) {
		return "the speed of the GPUs"
	}
	return "the speed of the cores"
}

// column is a figure of every step of a rank.
type column struct {
	name   string
	values []float64
	most   float64
}

// stepColumns lists the figures of the steps of a rank.
func stepColumns(s record.Steps) []column {
	out := []column{{"time", s.Seconds, maxSeconds}, {"watched time", s.Usage, maxSeconds},
		{"processor time", s.CPU, maxSeconds}, {"memory", s.RSS, maxAmount},
		{"memory of the GPU", s.GPU, maxAmount},
		{"number of bytes sent", s.Sent, maxAmount}, {"number of bytes received", s.Received, maxAmount}}
	for _, name := range slices.Sorted(maps.Keys(s.Phases)) {
		out = append(out, column{"phase " + name, s.Phases[name], maxSeconds})
	}
	for i, values := range [][]int{s.Epoch, s.Samples, s.Shards} {
		one := column{[]string{"epoch", "number of samples", "number of shards"}[i], nil, maxCount}
		for _, v := range values {
			one.values = append(one.values, float64(v))
		}
		out = append(out, one)
	}
	return out
}

// areStepsInRange is isInRange for the steps of a rank.
func areStepsInRange(rank int, s record.Steps) string {
	for _, c := range stepColumns(s) {
		for i, v := range c.values {
			if (figure{c.name, v, c.most}).isOut() {
				return fmt.Sprintf("step %d of rank %d has a %s of %v, which nothing can have measured.",
					i+1, rank, c.name, v)
			}
		}
	}
	return ""
}
