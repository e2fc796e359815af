package chooser

import (
	"math"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/comm"
)

// vgg11 has 9,231,114 parameters in 34 tensors.
const vgg11 = 4 * 9231114

// workers is a probe of equal workers of vgg11 over a link with a rate in bit/s, and their configuration.
func workers(n int, compute, backward, rate float64) (record.Probe, setting.Config) {
	c := setting.Default()
	c.Workers, c.Strategy, c.Batch, c.Shards, c.Bucket, c.AverageEvery = n, setting.Auto, 64*n, n, 1<<20, 50
	p := record.Probe{Forward: compute / 3, Backward: backward, Update: 0.01, Bytes: vgg11, Tensors: 34,
		Shards: n, IsCrowded: true, Add: 2e-10, Link: comm.LinkSpeed{Latency: 2e-4, Byte: 8 / rate}}
	for range n {
		p.Compute = append(p.Compute, compute)
	}
	return p, c.Complete()
}

func stepOf(t *testing.T, ranking []record.StrategyTerms, way string) record.StrategyTerms {
	t.Helper()
	for _, terms := range ranking {
		if terms.Way == way {
			return terms
		}
	}
	t.Fatalf("no prediction for %s", way)
	return record.StrategyTerms{}
}

// The steps that results/lab measured: four workers at 1 Gbit/s, two at 300 Mbit/s.
func TestPredictionsOfMeasuredSteps(t *testing.T) {
	for _, test := range []struct {
		workers                 int
		compute, backward, rate float64
		measured                map[string]float64
	}{
		{4, 0.65, 0.42, 1e9, map[string]float64{"gather-scatter": 2.293, "all-reduce": 1.182, "ddp": 0.851}},
		{2, 0.72, 0.45, 3e8, map[string]float64{"ddp": 1.371, "ddp:overlap-forward": 1.170}},
		{2, 0.68, 0.45, 1e9, map[string]float64{"ddp": 0.745, "ddp:overlap-forward": 0.746}},
	} {
		ranking := rank(workers(test.workers, test.compute, test.backward, test.rate))
		for way, want := range test.measured {
			if got := stepOf(t, ranking, way).Step; math.Abs(got/want-1) > 0.15 {
				t.Errorf("%s at %.3g bit/s: %.0f ms, measured %.0f", way, test.rate, 1e3*got, 1e3*want)
			}
		}
	}
}

// A link that gets slower makes no step shorter, but for a little: where cores are scarce, an exchange that
// is waited for leaves them to those that compute. A slow link favours what sends fewer bytes.
func TestPredictionsAreMonotonic(t *testing.T) {
	before := rank(workers(4, 0.65, 0.42, 1e12))
	for _, rate := range []float64{1e10, 1e9, 1e8, 1e7, 1e6} {
		ranking := rank(workers(4, 0.65, 0.42, rate))
		for _, terms := range ranking {
			if old := stepOf(t, before, terms.Way); terms.Step < 0.97*old.Step {
				t.Errorf("%s: %v s at %g bit/s, %v over a faster link", terms.Way, terms.Step, rate, old.Step)
			}
			sum := terms.Compute + terms.Waiting + terms.Exposed + terms.Update
			if math.Abs(sum-terms.Step) > 1e-12 || terms.Exposed < 0 || terms.Waiting < 0 {
				t.Errorf("%s: terms %+v", terms.Way, terms)
			}
		}
		before = ranking
	}
	for i := 1; i < len(before); i++ { // at 1 Mbit/s, bytes decide
		if a, b := before[i-1], before[i]; a.Step > b.Step {
			t.Errorf("%s is ranked before %s", a.Way, b.Way)
		}
	}
	if best := before[0].Way; best != "local-sgd" && best != "diloco" {
		t.Errorf("at 1 Mbit/s %s is said to be the fastest", best)
	}
	if gather := stepOf(t, before, "gather-scatter"); gather.Step < stepOf(t, before, "all-reduce").Step {
		t.Error("at 1 Mbit/s gather-scatter, with more bytes at rank 0, is said to beat all-reduce")
	}
}

// A slow worker makes the others wait, unless shards move or nobody waits.
func TestASlowWorkerFavoursBalance(t *testing.T) {
	p, c := workers(4, 0.6, 0.4, 1e10)
	p.Compute[1], p.Backward, p.Shards, c.Shards = 1.8, p.Backward/8, 32, 32
	ranking := rank(p, c)
	even, balanced := stepOf(t, ranking, "all-reduce"), stepOf(t, ranking, "all-reduce:rebalance")
	if even.Waiting < 0.8 || balanced.Waiting > 0.1 {
		t.Errorf("waiting %v and %v", even.Waiting, balanced.Waiting)
	}
	ideal := 4 / (3/0.6 + 1/1.8) // of work that can be cut at will
	if each := balanced.Compute + balanced.Waiting; each < ideal || each > 1.1*ideal {
		t.Errorf("balanced computation %v, ideal %v", each, ideal)
	}
	if first := choose(ranking); !strings.HasSuffix(ranking[first].Way, ":rebalance") {
		t.Errorf("%+v is chosen", ranking[first])
	}
}

// Servers: one moves the gradients of all workers, as many as workers move what an all-reduce moves.
func TestBytesOfServers(t *testing.T) {
	ranking := rank(workers(4, 0.65, 0.42, 1e9))
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
	ranking := rank(workers(4, 0.65, 0.42, 1e7))
	if ranking[0].Inexact == "" {
		t.Fatalf("%+v is the fastest of the list", ranking[0])
	}
	first := choose(ranking)
	if ranking[first].Inexact != "" {
		t.Errorf("chosen %+v", ranking[first])
	}
	for _, i := range finalists(ranking) {
		if ranking[i].Inexact != "" || ranking[i].Step > 1.25*ranking[first].Step {
			t.Errorf("finalist %+v", ranking[i])
		}
	}
}

// The models of one strategy err alike, so its fastest way comes before the ways of others only once.
func TestFinalistsAreOfSeveralStrategies(t *testing.T) {
	ranking := rank(workers(2, 0.3, 0.15, 1e10))
	seen := map[string]bool{}
	for _, i := range finalists(ranking) {
		name := strategy.Named(ranking[i].Way).Name
		if seen[name] {
			t.Errorf("%s is tried twice, %v are left", name, finalists(ranking))
		}
		seen[name] = true
	}
	if len(seen) < 3 {
		t.Errorf("finalists of %v only", seen)
	}
}

// A measured step counts more than a predicted one.
func TestMeasuredStepsDecide(t *testing.T) {
	ranking := rank(workers(2, 0.1, 0.06, 1e10))
	all := finalists(ranking)
	if len(all) < 2 {
		t.Fatalf("finalists %v", all)
	}
	for i, at := range all {
		ranking[at].Measured = record.Number(1 - 0.1*float64(i))
	}
	if first := choose(ranking); first != all[len(all)-1] {
		t.Errorf("chosen %d, want the last of %v", first, all)
	}
	if ranking := rank(workers(1, 1, 1, 1e9)); ranking != nil || choose(nil) != -1 {
		t.Errorf("%d ways for one worker", len(ranking))
	}
}
