package chooser

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/comm"
	"lockstep/forecast"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/simulate"
)

// JobOf describes the run of a configuration, with perHost ranks on a host, or with all on one: 0. It has
// nothing that is measured. It returns the number of hosts, too, and fails if there are fewer shards than
// workers.
func JobOf(of setting.Config, perHost int) (j simulate.Job, hosts int, err error) {
	j = simulate.Job{Strategy: of.Strategy, BucketBytes: of.Bucket, Algorithm: of.Algorithm,
		OverlapForward: of.OverlapForward, ShardOptimizer: of.ShardOptimizer,
		Servers: simulate.Servers{Count: of.NumServers(), IsApart: of.NumApart() > 0,
			IsWhole: !optim.IsElementwise(of.Optimizer.Name), Staleness: of.StalenessBound()},
		Averages: simulate.Averages{Every: of.AverageEvery, Parts: of.OuterParts, Overlap: of.OuterOverlap}}
	if !of.IsAsync() && j.Strategy == "ps-async" { // nobody may be ahead
		j.Strategy = "ps"
	}
	var names []string
	for rank := range of.World() {
		host := 0
		if perHost > 0 {
			host = rank / perHost
		}
		names, hosts = append(names, fmt.Sprint(host)), host+1
	}
	j.Topology = comm.NewTopology(names)
	j.Plan, err = shard.Cut(of.StepShards(), of.Workers)
	return j, hosts, err
}

// copying is the core time of moving a byte through memory or the kernel, in seconds: the order of what
// loopback TCP takes on current processors.
const copying = 1e-9

// Predict returns the terms of a step of a configuration, by package forecast, on the machines that a probe
// tells of, which has as many workers or more: each alone on a host, whose links are of the slowest kind,
// with tensors of equal size and shards of equal cost.
func Predict(p record.Probe, c setting.Config) (t record.StrategyTerms, err error) {
	run := forecast.Run{Batch: c.StepBatch(), Slow: func(rank int) (factor, wait float64) {
		return p.Compute[rank%len(p.Compute)] / mean(p), 0 // of servers, too, which compute nothing
	}}
	if run.Job, run.Hosts, err = JobOf(c, 1); err != nil {
		return t, err
	}
	if c.IsBalanced() {
		speeds := make([]shard.Speed, c.Workers)
		for rank := range speeds {
			speeds[rank].Each, _ = run.Slow(rank)
		}
		if run.Job.Plan, err = shard.Balance(c.StepShards(), speeds); err != nil {
			return t, err
		}
	}
	in, k := forecast.Inputs{}, calibrationOf(p, float64(c.StepBatch()))
	if p.IsCrowded {
		in.Cores, k.Outside.CPUByte = 1, min(copying, p.Link.Byte)
	}
	s, err := in.Step(&k, run)
	t.Compute, t.Waiting, t.Update, t.BusiestBytes = s.Compute, s.Waiting, s.Update, s.Bytes
	t.Exposed = max(0, s.Exposed)
	t.Step = t.Compute + t.Waiting + t.Exposed + t.Update
	return t, err
}

// calibrationOf returns what a probe tells of one worker and its link, for a batch of so many samples.
func calibrationOf(p record.Probe, samples float64) forecast.Calibration {
	shards := float64(max(1, p.Shards))
	each := mean(p) * float64(len(p.Compute)) / shards
	backward := min(each, p.Backward)
	k := forecast.Calibration{Add: p.Add,
		Shapes: []forecast.Passes{{Samples: samples / shards, Shards: 1, Forward: each - backward,
			Backward: backward, Update: p.Update}},
		Outside: forecast.Link{Latency: p.Link.Latency, Message: p.Link.Message, Byte: p.Link.Byte}}
	tensors, elems := int(max(1, p.Tensors)), int(p.Bytes/4)
	for i := range tensors {
		part := comm.Part(max(elems, tensors), tensors, i)
		k.Gradient = append(k.Gradient, forecast.Gradient{Offset: part.Lo, Len: part.Len(),
			Ready: float64(i + 1)})
	}
	return k
}

// mean returns the mean computation of a worker's step.
func mean(p record.Probe) float64 {
	sum := 0.0
	for _, c := range p.Compute {
		sum += c
	}
	return max(sum, math.SmallestNonzeroFloat64) / float64(len(p.Compute))
}

// rank predicts the step of each way that c can be run by, the fastest first. Left out are those that move
// shards between workers that are equally fast, and more servers than gradients.
func rank(p record.Probe, c setting.Config) (ranking []record.StrategyTerms) {
	isEven := len(p.Compute) > 0 && slices.Max(p.Compute) < 1.1*mean(p)
	for _, s := range strategy.All() {
		for _, way := range s.Ways {
			one, err := with(c, way)
			if err != nil || one.Validate() != nil || c.Workers < 2 || isEven && one.Rebalance {
				continue
			}
			t, err := Predict(p, one)
			if err != nil {
				continue
			}
			t.Way, t.Inexact, t.Measured = way, one.Inexact(), record.Number(math.NaN())
			ranking = append(ranking, t)
		}
	}
	slices.SortStableFunc(ranking, func(a, b record.StrategyTerms) int { return cmp.Compare(a.Step, b.Step) })
	return ranking
}
