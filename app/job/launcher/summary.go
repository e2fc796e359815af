package launcher

import (
	"cmp"
	"fmt"
	"slices"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// averagesOf adds up what the workers of c averaged, from their buckets, which are the parts; nil if they
// averaged nothing.
func averagesOf(c setting.Config, ranks []record.RankStat) *record.Averages {
	if !c.Averages() {
		return nil
	}
	lr, momentum := c.Outer()
	a := &record.Averages{Every: c.AverageEvery, Parts: c.OuterParts, Overlap: c.OuterOverlap,
		LR: lr, Momentum: momentum}
	for _, r := range ranks {
		for _, b := range r.Buckets {
			a.Sent += b.Sent
			if r.Rank == 0 && b.Hidden != nil {
				a.Rounds = max(a.Rounds, b.Steps)
				a.Exposed += b.Exposed.Seconds
				a.Hidden += b.Hidden.Seconds
			}
		}
	}
	return a
}

// lossOf returns the mean of the workers' own losses, by their samples.
func lossOf(ranks []record.RankStat) record.Loss {
	var sum record.Loss
	samples := 0.0
	for _, r := range ranks {
		n := float64(r.Samples)
		sum.First, sum.Last, samples = sum.First+n*r.Loss.First, sum.Last+n*r.Loss.Last, samples+n
	}
	return record.Loss{First: sum.First / max(samples, 1), Last: sum.Last / max(samples, 1)}
}

// missed returns a *MissedError if the run has a target and has not reached it, else nil.
func missed(s *record.Summary) error {
	if t := s.Target; t != nil && !t.IsReached {
		return &job.MissedError{Target: *t}
	}
	return nil
}

// summarize combines the results of all workers, by rank, with their notices. It fails if replicas that
// exchanged gradients ended with different parameters.
func summarize(c setting.Config, dir rundir.Directory, from *job.Resumption, results []job.Result,
	told *heard) (*record.Summary, error) {
	if err := checkReplicas(c, results); err != nil {
		return nil, err
	}
	first := results[0]
	s := &first.Summary
	job.AddSettings(s, c)
	s.Wire, s.Directory = first.Wire(c), string(dir)
	s.Steps, s.Loss, s.ParameterSHA256 = first.Steps, first.Loss, first.ParameterSHA256
	s.Evaluations, s.Target, s.Lost = told.evaluations, job.TargetOf(c, told.evaluations), told.lost
	s.Resumed, s.Moves = from.Summary(), told.moves
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
	s.Joules = energyOf(s.Ranks, told.isLab)
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
	s.Cautions = append(s.Cautions, slowed(c)...)
	return s, nil
}

// checkReplicas refuses replicas that exchanged gradients and ended with different parameters.
func checkReplicas(c setting.Config, results []job.Result) error {
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
func trainAccuracy(c setting.Config, results []job.Result) *float64 {
	if !c.IsIsolated() {
		results = results[:1]
	}
	var correct, seen int64
	for _, r := range results {
		correct += r.TrainCorrect
		seen += r.TrainSamples
	}
	return job.Ratio(correct, seen)
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
func clockOf(c setting.Config, results []job.Result) job.Result {
	if !c.IsIsolated() {
		return results[0]
	}
	return slices.MaxFunc(results, func(a, b job.Result) int { return cmp.Compare(a.Seconds, b.Seconds) })
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

// takenOf returns the share of core time that others took on the machine of rank 0; nil if unknown. Each
// rank of one process reports the time of the whole process. All hosts of a lab are that machine.
func takenOf(ranks []record.RankStat, servers []record.ServerStat, isOneProcess, isLab bool) *record.Taken {
	t := ranks[0].Cores
	if t.Own == 0 {
		return nil
	}
	isHere := func(name string) bool { return isLab || name == ranks[0].Host }
	own := 0.0
	for _, r := range ranks {
		if isOneProcess {
			own = max(own, r.Cores.Own)
		} else if isHere(r.Host) {
			own += r.Cores.Own
		}
	}
	for _, s := range servers {
		if !isOneProcess && isHere(s.Host) {
			own += s.Cores.Own
		}
	}
	return t.TakenBut(own)
}

// energyOf returns the joules that the processors of all hosts took; 0 unless each host tells. Every worker
// tells those of its whole machine, and all hosts of a lab are one.
func energyOf(ranks []record.RankStat, isLab bool) (sum float64) {
	for i, r := range ranks {
		isHere := func(former record.RankStat) bool { return isLab || former.Host == r.Host }
		if slices.ContainsFunc(ranks[:i], isHere) {
			continue
		}
		if r.Cores.Joules == 0 {
			return 0
		}
		sum += r.Cores.Joules
	}
	return sum
}
