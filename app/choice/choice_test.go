package choice_test

import (
	"math"
	"testing"

	"lockstep/app/choice"
	"lockstep/app/record"
	"lockstep/comm"
)

// vgg11 has 9,231,114 parameters in 34 tensors.
const vgg11 = 4 * 9231114

// workers is a probe of equal workers of vgg11 over a link with a rate in bit/s.
func workers(n int, compute, backward, rate float64) record.Probe {
	p := record.Probe{Forward: compute / 3, Backward: backward, Update: 0.01, Bytes: vgg11, Tensors: 34,
		Bucket: 1 << 20, Shards: 8 * n, AverageEvery: 50, IsCrowded: true, Add: 2e-10,
		Link: comm.LinkSpeed{Latency: 2e-4, Byte: 8 / rate}}
	for range n {
		p.Compute = append(p.Compute, compute)
	}
	return p
}

func stepOf(t *testing.T, ranking []record.StrategyTerms, way string) record.StrategyTerms {
	t.Helper()
	for _, terms := range ranking {
		if terms.Strategy+":"+terms.Options == way || terms.Options == "" && terms.Strategy == way {
			return terms
		}
	}
	t.Fatalf("no prediction for %s", way)
	return record.StrategyTerms{}
}

// marked returns all ways with the inexact ones marked.
func marked() []choice.Way {
	ways := choice.Ways()
	for i, w := range ways {
		if w.Strategy == "local-sgd" || w.Strategy == "diloco" || w.Strategy == "ps-async" {
			ways[i].Inexact = "averages"
		}
	}
	return ways
}

// The steps that results/lab measured: four workers at 1 Gbit/s, two at 300 Mbit/s.
func TestPredictionsOfMeasuredSteps(t *testing.T) {
	for _, test := range []struct {
		probe    record.Probe
		measured map[string]float64
	}{
		{workers(4, 0.65, 0.42, 1e9), map[string]float64{"gather-scatter": 2.293, "all-reduce": 1.182,
			"ddp": 0.851}},
		{workers(2, 0.72, 0.45, 3e8), map[string]float64{"ddp": 1.371, "ddp:overlap-forward": 1.170}},
		{workers(2, 0.68, 0.45, 1e9), map[string]float64{"ddp": 0.745, "ddp:overlap-forward": 0.746}},
	} {
		ranking := choice.Rank(test.probe, choice.Ways())
		for way, want := range test.measured {
			if got := stepOf(t, ranking, way).Step; math.Abs(got/want-1) > 0.15 {
				t.Errorf("%s at %.3g bit/s: %.0f ms, measured %.0f", way, 8/test.probe.Link.Byte, 1e3*got,
					1e3*want)
			}
		}
	}
}

// A link that gets slower makes no step shorter, but for a little: where cores are scarce, an exchange that
// is waited for leaves them to those that compute. A slow link favours what sends fewer bytes.
func TestPredictionsAreMonotonic(t *testing.T) {
	before := choice.Rank(workers(4, 0.65, 0.42, 1e12), choice.Ways())
	for _, rate := range []float64{1e10, 1e9, 1e8, 1e7, 1e6} {
		ranking := choice.Rank(workers(4, 0.65, 0.42, rate), choice.Ways())
		for _, terms := range ranking {
			way := choice.Way{Strategy: terms.Strategy, Options: terms.Options}.String()
			if old := stepOf(t, before, way); terms.Step < 0.97*old.Step {
				t.Errorf("%s: %v s at %g bit/s, %v over a faster link", way, terms.Step, rate, old.Step)
			}
			sum := terms.Compute + terms.Waiting + terms.Exposed + terms.Update
			if math.Abs(sum-terms.Step) > 1e-12 || terms.Exposed < 0 || terms.Waiting < 0 {
				t.Errorf("%s: terms %+v", way, terms)
			}
		}
		before = ranking
	}
	for i := 1; i < len(before); i++ { // at 1 Mbit/s, bytes decide
		if a, b := before[i-1], before[i]; a.Step > b.Step {
			t.Errorf("%s is ranked before %s", a.Strategy, b.Strategy)
		}
	}
	if best := before[0].Strategy; best != "local-sgd" && best != "diloco" {
		t.Errorf("at 1 Mbit/s %s is said to be the fastest", best)
	}
	if gather := stepOf(t, before, "gather-scatter"); gather.Step < stepOf(t, before, "all-reduce").Step {
		t.Error("at 1 Mbit/s gather-scatter, with more bytes at rank 0, is said to beat all-reduce")
	}
}

// A slow worker makes the others wait, unless shards move or nobody waits.
func TestASlowWorkerFavoursBalance(t *testing.T) {
	p := workers(4, 0.6, 0.4, 1e10)
	p.Compute[1] *= 3
	ranking := choice.Rank(p, marked())
	even, balanced := stepOf(t, ranking, "all-reduce"), stepOf(t, ranking, "all-reduce:rebalance")
	if even.Waiting < 0.8 || balanced.Waiting != 0 {
		t.Errorf("waiting %v and %v", even.Waiting, balanced.Waiting)
	}
	ideal := 4 / (3/0.6 + 1/1.8) // of work that can be cut at will
	if balanced.Compute < ideal || balanced.Compute > 1.1*ideal {
		t.Errorf("balanced computation %v, ideal %v", balanced.Compute, ideal)
	}
	if first := choice.Choose(ranking); ranking[first].Options != "rebalance" {
		t.Errorf("%+v is chosen", ranking[first])
	}
}

// Servers: one moves the gradients of all workers, as many as workers move what an all-reduce moves.
func TestBytesOfServers(t *testing.T) {
	ranking := choice.Rank(workers(4, 0.65, 0.42, 1e9), choice.Ways())
	for way, want := range map[string]float64{
		"ps":                              6 * vgg11, // 3 n in, 3 n out
		"ps:servers=4":                    3 * vgg11, // as all-reduce
		"all-reduce":                      3 * vgg11,
		"ps:server-place=apart":           8 * vgg11,
		"ps:servers=2+server-place=apart": 4 * vgg11,
	} {
		if got := stepOf(t, ranking, way).BusiestBytes; math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%s: %v bytes at the busiest process, want %v", way, got, want)
		}
	}
}

// What another result would come of is listed with its time and never chosen, however fast it is.
func TestOnlyExactWaysAreChosen(t *testing.T) {
	ranking := choice.Rank(workers(4, 0.65, 0.42, 1e7), marked())
	if ranking[0].Inexact == "" {
		t.Fatalf("%+v is the fastest of the list", ranking[0])
	}
	first := choice.Choose(ranking)
	if ranking[first].Inexact != "" {
		t.Errorf("chosen %+v", ranking[first])
	}
	for _, i := range choice.Finalists(ranking) {
		if ranking[i].Inexact != "" || ranking[i].Step > 1.25*ranking[first].Step {
			t.Errorf("finalist %+v", ranking[i])
		}
	}
}

// The models of one strategy err alike, so its fastest way comes before the ways of others only once.
func TestFinalistsAreOfSeveralStrategies(t *testing.T) {
	ranking := choice.Rank(workers(2, 0.3, 0.15, 1e10), marked())
	seen := map[string]bool{}
	for _, i := range choice.Finalists(ranking) {
		if seen[ranking[i].Strategy] {
			t.Errorf("%s is tried twice, %v are left", ranking[i].Strategy, choice.Finalists(ranking))
		}
		seen[ranking[i].Strategy] = true
	}
	if len(seen) < 3 {
		t.Errorf("finalists of %v only", seen)
	}
}

// A measured step counts more than a predicted one.
func TestMeasuredStepsDecide(t *testing.T) {
	ranking := choice.Rank(workers(2, 0.1, 0.06, 1e10), choice.Ways())
	finalists := choice.Finalists(ranking)
	if len(finalists) < 2 {
		t.Fatalf("finalists %v", finalists)
	}
	for i, at := range finalists {
		ranking[at].Measured = record.Number(1 - 0.1*float64(i))
	}
	last := finalists[len(finalists)-1]
	if first := choice.Choose(ranking); first != last {
		t.Errorf("chosen %d, want the last of %v", first, finalists)
	}
}

func TestNothingToChoose(t *testing.T) {
	if ranking := choice.Rank(workers(1, 1, 1, 1e9), choice.Ways()); ranking != nil {
		t.Errorf("%d ways for one worker", len(ranking))
	}
	if first := choice.Choose(nil); first != -1 {
		t.Errorf("%d of nothing", first)
	}
	if way := (choice.Way{Strategy: "ps", Options: "servers=2"}); way.String() != "ps:servers=2" {
		t.Errorf("%s", way)
	}
}
