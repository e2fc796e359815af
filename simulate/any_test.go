package simulate_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
	"lockstep/simulate"
)

// Whatever a run is like, its steps end, their terms add up, and none is shorter than its computation.
func TestAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := append(gradsync.Names(), "none", "ps", "ps-async", "local-sgd", "diloco")
		j := simulate.Job{Strategy: rapid.SampledFrom(names).Draw(t, "strategy"), BucketBytes: 4000,
			Model:     parameters(rapid.SliceOfN(rapid.IntRange(1, 3000), 4, 8).Draw(t, "elems")...),
			Algorithm: rapid.SampledFrom(append(comm.Algorithms(), "auto")).Draw(t, "algorithm")}
		workers := rapid.IntRange(1, 6).Draw(t, "workers")
		plan, err := shard.Cut(workers*rapid.IntRange(1, 3).Draw(t, "shards"), workers)
		if err != nil {
			t.Fatal(err)
		}
		j.Plan, j.Model.RowBytes = plan, rapid.SampledFrom([]float64{0, 40}).Draw(t, "row")
		ranks := workers
		if j.Strategy == "ps" || j.Strategy == "ps-async" {
			j.Servers = simulate.Servers{Count: rapid.IntRange(1, 4).Draw(t, "servers"),
				IsApart: rapid.Bool().Draw(t, "apart"), IsWhole: rapid.Bool().Draw(t, "whole"),
				Staleness: rapid.IntRange(0, 8).Draw(t, "staleness")}
			if j.Servers.IsApart {
				ranks += j.Servers.Count
			}
		}
		each := rapid.IntRange(1, 3).Draw(t, "ranks of a host")
		j.Topology = comm.NewTopology(make([]string, ranks))
		if each < 3 {
			j.Topology = hosts((ranks+each-1)/each, each)
			if j.Topology.Size() != ranks {
				j.Topology = hosts(ranks, 1)
			}
		}
		j.OverlapForward = rapid.Bool().Draw(t, "late")
		j.ShardOptimizer = !j.OverlapForward && rapid.Bool().Draw(t, "sharded")
		j.Averages = simulate.Averages{Every: 3, Parts: rapid.IntRange(1, 3).Draw(t, "parts"),
			Overlap: rapid.IntRange(0, 2).Draw(t, "overlap")}
		for range workers {
			seconds := rapid.SampledFrom([]float64{0, 0.01, 0.03}).Draw(t, "seconds")
			j.Workers = append(j.Workers,
				simulate.Passes{Forward: seconds, Backward: 2 * seconds, Update: 1e-3})
		}
		j.Machines = []simulate.Machine{{Cores: rapid.SampledFrom([]float64{0, 1, 2}).Draw(t, "cores")}}
		j.Network.Outside = simulate.Link{Latency: 1e-4, Message: 1e-6, CPUByte: 1e-9, Burst: 1000,
			Byte: rapid.SampledFrom([]float64{0, 1e-7}).Draw(t, "byte")}
		j.Network.Group, j.Network.Oversubscription = rapid.IntRange(0, 2).Draw(t, "group"), 2
		j.Network.Crossing = 0.2
		steps, err := simulate.Steps(j.WithMost(rapid.SampledFrom([]int{1, 16}).Draw(t, "most")), 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			sum := s.Compute + s.Waiting + s.Exposed + s.Update
			least := min(s.Compute, s.Waiting, s.Exposed, s.Update)
			if !near(sum, s.Seconds, 1e-9) || !(least >= -1e-9) || math.IsInf(s.Seconds, 0) {
				t.Fatalf("step %+v, terms of which add up to %v", s, sum)
			}
		}
	})
}
