package choice

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
	"lockstep/simulate"
)

// model predicts the terms of one way.
type model struct {
	Way
	strategy strategy.Strategy
	form     strategy.Way
}

// models lists every way that can be predicted.
func models() []model {
	var all []model
	for _, s := range strategy.All() {
		for _, form := range s.Ways {
			all = append(all, model{Way{Strategy: s.Name, Options: form.Options}, s, form})
		}
	}
	return all
}

// asyncUpdates is how many updates of each asynchronous worker are simulated.
const asyncUpdates = 10

// terms simulates steps of the way and returns the means of their terms.
func (m model) terms(p record.Probe) (t record.StrategyTerms, err error) {
	n := 1
	if m.strategy.IsAsync {
		n = asyncUpdates * len(p.Compute)
	}
	s, err := simulate.Mean(m.job(p), n, nil)
	t.Compute, t.Waiting, t.Update, t.BusiestBytes = s.Compute, s.Waiting, s.Update, s.Bytes
	t.Exposed = max(0, s.Exposed)
	t.Step = t.Compute + t.Waiting + t.Exposed + t.Update
	return t, err
}

// moving is the processor time of moving a byte through memory or the kernel, in seconds: the order of what
// loopback TCP takes on current processors.
const moving = 1e-9

// job returns the run that a probe tells of: hosts with a worker each, whose links are of the slowest kind,
// tensors of equal size and shards of equal cost.
func (m model) job(p record.Probe) simulate.Job {
	n, ranks := len(p.Compute), len(p.Compute)
	if m.form.IsApart {
		ranks += m.form.Servers
	}
	if m.form.IsBalanced {
		p.Compute = slices.Repeat([]float64{makespan(p)}, n)
	}
	j := simulate.Job{Strategy: m.Strategy, BucketBytes: int(max(4, p.Bucket)), Add: p.Add,
		OverlapForward: m.form.IsLate, Model: modelOf(p), Machines: []simulate.Machine{{}},
		Servers:  simulate.Servers{Count: m.form.Servers, IsApart: m.form.IsApart, Staleness: 4 * n},
		Averages: simulate.Averages{Every: int(max(1, p.AverageEvery))}}
	j.Network.Outside = simulate.Link{Latency: p.Link.Latency, Message: p.Link.Message, Byte: p.Link.Byte}
	if p.IsCrowded {
		j.Machines[0].Cores, j.Network.Outside.CPUByte = 1, min(moving, p.Link.Byte)
	}
	if p.Link.Byte > moving { // a network, which connections share as they can
		j.Network.Crossing = comm.Crossing
	}
	hosts := make([]string, ranks)
	for rank := range hosts {
		hosts[rank] = fmt.Sprint(rank)
	}
	j.Topology = comm.NewTopology(hosts)
	mean := mean(p)
	for _, seconds := range p.Compute {
		work := simulate.Passes{Forward: p.Forward * seconds / mean, Update: p.Update}
		work.Backward = min(seconds, p.Backward*seconds/mean)
		work.Forward = min(seconds-work.Backward, work.Forward)
		work.Other = max(0, seconds-work.Forward-work.Backward) // the shards before the last one
		if m.strategy.IsAsync {                                 // whole batches
			rest := float64(n-1) * seconds
			work.Other += rest
		}
		j.Workers = append(j.Workers, work)
	}
	return j
}

// mean returns the mean computation of a step.
func mean(p record.Probe) float64 {
	sum := 0.0
	for _, c := range p.Compute {
		sum += c
	}
	return max(sum, math.SmallestNonzeroFloat64) / float64(len(p.Compute))
}

// isEven reports whether no worker is much slower than the others.
func isEven(p record.Probe) bool { return slices.Max(p.Compute) < 1.1*mean(p) }

// modelOf returns tensors of equal size that are final at equal distances.
func modelOf(p record.Probe) simulate.Model {
	var m simulate.Model
	tensors, elems := int(max(1, p.Tensors)), int(p.Bytes/4)
	for i := range tensors {
		part := comm.Part(max(elems, tensors), tensors, i)
		m.Order = append(m.Order, i)
		m.Segments = append(m.Segments, gradsync.Segment{Offset: part.Lo, Len: part.Len()})
	}
	return m
}

// makespan returns when the last worker has computed its shards, dealt out by how fast the workers are.
func makespan(p record.Probe) float64 {
	speeds := make([]shard.Speed, len(p.Compute))
	for rank, c := range p.Compute {
		speeds[rank].Each = c * float64(len(p.Compute)) / float64(p.Shards)
	}
	plan, err := shard.Balance(p.Shards, speeds)
	if err != nil { // fewer shards than workers
		return slices.Max(p.Compute)
	}
	return plan.Time(speeds)
}
