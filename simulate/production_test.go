package simulate_test

import (
	"sync"
	"testing"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/shard"
	"lockstep/simulate"
)

// What a step moves is what production moves, by every strategy, algorithm and number of pieces.
func TestBytesAreThoseOfProduction(t *testing.T) {
	model := parameters(700, 30, 2900, 1, 512, 4000)
	for _, workers := range []int{2, 3, 4} {
		plan, err := shard.Cut(6, workers)
		if err != nil {
			t.Fatal(err)
		}
		for _, strategy := range append(gradsync.Names(), "sharded", "late") {
			for _, algorithm := range []string{"direct", "halving-doubling", "tree", "hierarchical"} {
				j := simulate.Job{Strategy: strategy, Topology: hosts(workers, 1), Plan: plan, Model: model,
					Workers: []simulate.Passes{{Forward: 1, Backward: 1}}, Algorithm: algorithm,
					BucketBytes: 8000}
				switch strategy {
				case "sharded":
					j.Strategy, j.ShardOptimizer = gradsync.DDP, true
				case "late":
					j.Strategy, j.OverlapForward = gradsync.DDP, true
				}
				if got, want := first(t, j).Bytes, moved(t, strategy, j); !near(got, want, 1e-9) {
					t.Errorf("%s of %d workers by %s: %v bytes at the busiest, production moves %v", strategy,
						workers, algorithm, got, want)
				}
			}
		}
	}
}

// Servers move what package ps says they do, but for announcements.
func TestBytesOfServers(t *testing.T) {
	for _, servers := range []simulate.Servers{{Count: 1}, {Count: 3}, {Count: 2, IsApart: true},
		{Count: 2, IsWhole: true}} {
		plan, err := shard.Cut(6, 3)
		if err != nil {
			t.Fatal(err)
		}
		ranks := 3
		if servers.IsApart {
			ranks += servers.Count
		}
		j := simulate.Job{Strategy: "ps", Topology: hosts(ranks, 1), Plan: plan, Model: vgg11(),
			Servers: servers, Workers: []simulate.Passes{{Forward: 1, Backward: 1}}}
		j.Model.RowBytes = 4
		elems := 0
		for _, s := range j.Model.Segments {
			elems += s.Len
		}
		layout, err := ps.NewLayout(ps.LayoutConfig{Plan: plan, Segments: j.Model.Segments, RowLen: 1,
			Len: elems, Order: j.Model.Order, Servers: servers.Count,
			IsApart: servers.IsApart, IsWhole: servers.IsWhole})
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for rank := range ranks {
			traffic := layout.Traffic(rank)
			want = max(want, float64(traffic.Sent+traffic.Received))
		}
		if got := first(t, j).Bytes; !near(got, want, 1e-5) {
			t.Errorf("%+v: %v bytes at the busiest, want %v", servers, got, want)
		}
	}
}

// moved makes a step of a job's exchange for real, and returns the bytes in and out of the busiest rank.
func moved(t *testing.T, strategy string, j simulate.Job) float64 {
	t.Helper()
	bytes := make([]float64, j.Plan.Workers())
	var wait sync.WaitGroup
	for rank, mesh := range comm.NewLocal(len(bytes)) {
		wait.Go(func() {
			g, err := comm.NewGroup(mesh, comm.Config{Plan: j.Plan, Topology: j.Topology})
			if err != nil {
				t.Error(err)
				return
			}
			defer g.Close()
			if err := exchange(g, strategy, j); err != nil {
				t.Error(err)
			}
			total := g.Counters().Total()
			bytes[rank] = float64(total.Sent + total.Received)
		})
	}
	wait.Wait()
	most := 0.0
	for _, b := range bytes {
		most = max(most, b)
	}
	return most
}

// exchange makes a step of an exchange.
func exchange(g *comm.Group, strategy string, j simulate.Job) error {
	last := j.Model.Segments[len(j.Model.Segments)-1]
	var pieces [][]float32
	for range j.Plan.Pieces(g.Rank()) {
		pieces = append(pieces, make([]float32, last.Offset+last.Len))
	}
	c := gradsync.Config{Group: g, Algorithm: j.Algorithm, Segments: j.Model.Segments, Order: j.Model.Order,
		Pieces: pieces, BucketBytes: j.BucketBytes}
	begin := func(e gradsync.Exchange) {
		e.Begin(0)
		for _, param := range c.Order {
			e.Ready(param)
		}
	}
	switch strategy {
	case "sharded":
		e, err := gradsync.NewSharded(c)
		if err != nil {
			return err
		}
		begin(e)
		if err := e.WaitShares(); err != nil {
			return err
		}
		e.StartAllGather(pieces[0])
		return e.WaitAllGather(-1)
	case "late":
		e, err := gradsync.NewLate(c)
		if err != nil {
			return err
		}
		begin(e)
		if err := e.WaitRows(); err != nil {
			return err
		}
		return e.Close()
	}
	e, err := gradsync.New(strategy, c)
	if err != nil {
		return err
	}
	begin(e)
	return e.Wait()
}
