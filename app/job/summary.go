package job

import (
	"slices"
	"time"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/trace"
)

// Seconds returns s seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// FirstStep returns the first step's time in milliseconds; 0 if there was none.
func FirstStep(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	return milliseconds(times[0])
}

// StepQuantiles returns the quantiles of step times in milliseconds. It leaves out the first step, which
// warms up caches and links, unless it is the only one. All are 0 if there was no step.
func StepQuantiles(times []time.Duration) record.Quantiles {
	switch len(times) {
	case 0:
		return record.Quantiles{}
	case 1:
	default:
		times = times[1:]
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(q float64) float64 {
		// Linear between the two nearest order statistics.
		position := q * float64(len(sorted)-1)
		i := int(position)
		low, high := sorted[i], sorted[min(i+1, len(sorted)-1)]
		return milliseconds(low) + (position-float64(i))*milliseconds(high-low)
	}
	return record.Quantiles{Median: at(0.5), P10: at(0.1), P90: at(0.9)}
}

// PhasesOf returns times of phases for the record.
func PhasesOf(p trace.Phases) record.Phases {
	return record.Phases{
		Forward: p[trace.Forward].Seconds(), Backward: p[trace.Backward].Seconds(),
		SyncExposed: p[trace.SyncExposed].Seconds(), Optimizer: p[trace.Optimizer].Seconds(),
		Data: p[trace.Data].Seconds(), Evaluation: p[trace.Evaluation].Seconds(),
		Other: p[trace.Other].Seconds(),
	}
}

// AddSettings adds what c says of the run.
func AddSettings(s *record.Summary, c setting.Config) {
	s.Schema = record.Schema
	s.Model, s.Data, s.Strategy, s.Link, s.TTA = c.Model, c.Data, c.Strategy, c.Link, c.TTA
	s.Workers, s.Threads = c.Workers, c.Threads
	s.Batch, s.Shards, s.Accumulate = c.Batch, c.Shards, c.Accumulate
	s.LearningRate, s.Seed, s.ISA, s.Math, s.For = c.UpdateRule().LR, c.Seed, c.ISA, c.Math, c.For
	s.Device, s.SlowWorkers, s.SlowLoader = c.Device, c.SlowWorkers.String(), c.SlowLoader.String()
}

// Ratio returns part/whole, or nil if whole is 0.
func Ratio(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
