package job

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/gradsync"
	"lockstep/trace"
)

// missed returns a *MissedError if the run has a target and has not reached it, else nil.
func missed(s *record.Summary) error {
	if t := s.Target; t != nil && !t.IsReached {
		return &MissedError{*t}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// firstStep returns the first step's time in milliseconds; 0 if there was none.
func firstStep(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	return milliseconds(times[0])
}

// stepQuantiles returns the quantiles of step times in milliseconds. It leaves out the first step, which
// warms up caches and links, unless it is the only one. All are 0 if there was no step.
func stepQuantiles(times []time.Duration) record.Quantiles {
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

func phasesOf(p trace.Phases) record.Phases {
	return record.Phases{
		Forward: p[trace.Forward].Seconds(), Backward: p[trace.Backward].Seconds(),
		SyncExposed: p[trace.SyncExposed].Seconds(), Optimizer: p[trace.Optimizer].Seconds(),
		Data: p[trace.Data].Seconds(), Evaluation: p[trace.Evaluation].Seconds(),
		Other: p[trace.Other].Seconds(),
	}
}

// summarize combines the results of all workers, by rank, with their notices. It fails if replicas that
// exchanged gradients ended with different parameters.
func summarize(c setting.Config, dir rundir.Directory, from *resumption, results []workerResult,
	told *heard) (*record.Summary, error) {
	if err := checkReplicas(c, results); err != nil {
		return nil, err
	}
	first := results[0]
	s := &first.Summary
	addSettings(s, c)
	s.Wire, s.Directory = first.wire(c), string(dir)
	s.Steps, s.Loss, s.ParameterSHA256 = first.Steps, first.Loss, first.ParameterSHA256
	s.Evaluations, s.Target, s.Lost = told.evaluations, targetOf(c, told.evaluations), told.lost
	s.Resumed, s.Moves, s.Growth = from.summary(), told.moves, told.growth
	s.Servers, s.Async, s.LostWorkers = told.servers, told.async, told.lostWorkers
	for _, r := range results {
		r.Buckets = told.buckets[r.Rank]
		s.Ranks = append(s.Ranks, r.RankStat)
	}
	addWorkers(s, c)
	addServers(s, c)
	clock := clockOf(c, results)
	s.Seconds, s.StepMS, s.Phases = clock.Seconds, clock.StepMS, clock.Phases
	s.TrainSeconds = clock.Summary.TrainSeconds
	if s.Averages = averagesOf(c, s.Ranks); s.Averages != nil {
		s.Loss = lossOf(s.Ranks)
	}
	if s.Async != nil { // workers also counted dropped gradients, and those that are lost counted none
		s.Samples = s.Async.Samples
	}
	s.Taken = takenOf(s.Ranks, s.Servers, c.IsOneProcess(), told.isLab)
	if seconds := s.Trained(); seconds > 0 {
		s.SamplesPerSecond = float64(s.Samples) / seconds
	}
	if s.Resumed != nil {
		s.Samples += s.Resumed.Samples
	}
	s.TrainAccuracy = trainAccuracy(c, results)
	s.Cautions = cautions(s)
	if from != nil {
		s.Cautions = append(s.Cautions, from.Kept.Changes...)
	}
	addGPUs(s, told.isLab)
	s.Work = workOf(s, told.coreShare)
	if text := warming(c, s); text != "" {
		s.Cautions = append(s.Cautions, text)
	}
	if text := slowed(c.SlowWorkers); text != "" {
		s.Cautions = append(s.Cautions, text)
	}
	return s, nil
}

// checkReplicas refuses replicas that exchanged gradients and ended with different parameters.
func checkReplicas(c setting.Config, results []workerResult) error {
	if c.IsIsolated() {
		return nil
	}
	first := results[0]
	for _, r := range results {
		if r.ParameterSHA256 != first.ParameterSHA256 {
			return fmt.Errorf("job: replicas differ: rank %d ended with parameters %s, rank 0 with %s",
				r.Rank, r.ParameterSHA256, first.ParameterSHA256)
		}
	}
	return nil
}

// addSettings adds what c says of the run.
func addSettings(s *record.Summary, c setting.Config) {
	s.Schema = record.Schema
	s.Model, s.Data, s.Strategy, s.Link, s.TTA = c.Model, c.Data, c.Strategy, c.Link, c.TTA
	s.Workers, s.Threads = c.Workers, c.Threads
	s.Batch, s.Shards, s.Accumulate = c.Batch, c.Shards, c.Accumulate
	s.LearningRate, s.Seed, s.ISA, s.Math, s.For = c.UpdateRule().LR, c.Seed, c.ISA, c.Math, c.For
	s.Device, s.SlowWorkers = c.Device, c.SlowWorkers.String()
}

// addWorkers adds up the figures of the workers.
func addWorkers(s *record.Summary, c setting.Config) {
	for _, r := range s.Ranks {
		s.Samples += r.Samples
		s.BytesSent += r.BytesSent
		s.BytesVectors += r.BytesVectors
		s.BytesReceived += r.BytesReceived
		if c.IsOneProcess() {
			s.PeakRSSBytes = max(s.PeakRSSBytes, r.PeakRSSBytes) // they share one process
		} else {
			s.PeakRSSBytes += r.PeakRSSBytes
		}
	}
}

// trainAccuracy returns the share of the last epoch's samples that were classified correctly; nil: none was
// trained on. Workers that train together all count those of the whole batch.
func trainAccuracy(c setting.Config, results []workerResult) *float64 {
	if !c.IsIsolated() {
		results = results[:1]
	}
	var correct, seen int64
	for _, r := range results {
		correct += r.TrainCorrect
		seen += r.TrainSamples
	}
	return ratio(correct, seen)
}

// addServers adds what the servers took to the figures of the workers, and finds the busiest processes.
func addServers(s *record.Summary, c setting.Config) {
	slices.SortFunc(s.Servers, func(a, b record.ServerStat) int { return a.Server - b.Server })
	if len(s.Servers) > 0 {
		s.ServerPlace = c.ServerPlace
	}
	for _, r := range s.Ranks {
		s.BusiestBytes = max(s.BusiestBytes, r.BytesSent+r.BytesReceived)
	}
	for _, p := range s.Servers {
		bytes := p.BytesSent + p.BytesReceived
		s.ServerBytes, s.BusiestBytes = max(s.ServerBytes, bytes), max(s.BusiestBytes, bytes)
		if p.Rank < c.Workers {
			continue // the worker's figures have its
		}
		s.BytesSent += p.BytesSent
		s.BytesVectors += p.BytesVectors
		s.BytesReceived += p.BytesReceived
		if !c.IsOneProcess() {
			s.PeakRSSBytes += p.PeakRSSBytes
		}
	}
}

// clockOf returns the worker whose times are those of the run. Workers that train together end together:
// it is rank 0, by whose clock evaluations are, and which with asynchronous servers evaluates alone. Of
// workers on their own it is the slowest.
func clockOf(c setting.Config, results []workerResult) workerResult {
	if !c.IsIsolated() {
		return results[0]
	}
	return slices.MaxFunc(results, func(a, b workerResult) int { return cmp.Compare(a.Seconds, b.Seconds) })
}

// workOf adds up the operations of all ranks; nil if there are none, or if the peak of a rank was not
// measured, or that of a GPU which several share. Each compute thread has coreShare of a core.
func workOf(s *record.Summary, coreShare float64) *record.Computation {
	var w record.Computation
	if s.GPU != "" {
		coreShare = 1
	}
	if s.GPUWorkers > 1 {
		return nil
	}
	for _, r := range s.Ranks {
		w.FLOPs, w.HardwareFLOPs = w.FLOPs+r.FLOPs, w.HardwareFLOPs+r.HardwareFLOPs
		w.Peak += coreShare * r.PeakFLOPs
		if r.FLOPs > 0 && r.PeakFLOPs == 0 {
			return nil
		}
	}
	time := s.Trained()
	if w.FLOPs == 0 || time <= 0 || w.Peak == 0 {
		return nil
	}
	w.Rate = float64(w.FLOPs) / time
	w.Of = w.Rate / w.Peak
	return &w
}

// wire returns the name of the wire at the end of the run.
func (r workerResult) wire(c setting.Config) string {
	switch {
	case r.Summary.WireChoice != nil:
		return r.Summary.WireChoice.Chosen()
	case c.GradientWire().IsAuto():
		return gradsync.Wire{}.String() // nothing to choose between
	case c.Averages():
		return c.OuterWire
	}
	return c.Wire
}

// ratio returns part/whole, or nil if whole is 0.
func ratio(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
