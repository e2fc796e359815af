package graph_test

import (
	"slices"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/graph"
)

// A profiled step computes what a step computes, and times every op.
func TestProfileKeepsEveryBit(t *testing.T) {
	for _, train := range []bool{true, false} {
		n := newNetwork(t, 5, train)
		want := n.step()
		grad := n.v.NewGradient()
		if train {
			n.p.SetGradients(grad)
		} else {
			grad = nil
		}
		times := make([]time.Duration, len(n.p.Cost()))
		n.p.Profile(times)
		got := append(grad, float32(n.p.Loss()), float32(correct(n.p)))
		got = append(append(got, n.p.Logits()...), n.p.BatchStats()...)
		if !slices.Equal(got, want) {
			t.Errorf("training %v: a profiled step differs", train)
		}
		var total time.Duration
		for _, d := range times {
			total += d
		}
		if total <= 0 || slices.Min(times) < 0 {
			t.Errorf("training %v: times %v", train, times)
		}
	}
}

// The FLOPs of a run are those of its ops; for texts, in proportion to the tokens.
func TestFLOPs(t *testing.T) {
	p := newNetwork(t, 2, true).p
	if got, want := p.FLOPs(), cost(p); got != want || got == 0 {
		t.Errorf("%d FLOPs, want %d", got, want)
	}
}

// What is computed again to save memory is no work of the network.
func TestRepeatedOpsAreNoWork(t *testing.T) {
	h := host(t, compute.Best(), 1)
	all, least := chainOn(t, h, 16, 5, graph.Compile).p, chainOn(t, h, 16, 5, within(1, graph.Compile)).p
	if all.FLOPs() != all.HardwareFLOPs() || least.FLOPs() != all.FLOPs() {
		t.Errorf("%d FLOPs, %d with little memory; %d on the hardware", all.FLOPs(), least.FLOPs(),
			all.HardwareFLOPs())
	}
	if got, want := least.HardwareFLOPs(), cost(least); got != want || got <= all.FLOPs() {
		t.Errorf("%d FLOPs on the hardware, want %d, more than %d", got, want, all.FLOPs())
	}
}

// cost adds up the FLOPs of a program's ops.
func cost(p *graph.Program) (sum int64) {
	for _, c := range p.Cost() {
		sum += c.FLOPs
	}
	return sum
}

// The costs name the shapes that the op reads and writes.
func TestCostHasShapes(t *testing.T) {
	first := newNetwork(t, 2, true).p.Cost()[0]
	if got := first.In[1].String(); got != "[3, 3, 3, 4]" {
		t.Errorf("weights of %s %s: %s", first.Op, first.Layer, got)
	}
	if got := first.Out[0].String(); got != "[2, 6, 6, 4]" {
		t.Errorf("result of %s %s: %s", first.Op, first.Layer, got)
	}
}
