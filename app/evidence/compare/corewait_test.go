package compare_test

import (
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// waiting returns a run of 40 steps whose ranks compute and wait for the exchange for so many seconds of each
// step, and have threads without a core for so many.
func waiting(s record.Setting, compute, exchange, delayed []float64) record.Run {
	run := record.Run{Outcome: record.Outcome{Steps: 40, Samples: 40 * 256}}
	for rank := range compute {
		st := steps(s, 1)
		for i := range st.Seconds {
			st.Seconds[i] = compute[rank] + exchange[rank]
			st.Phases["forward"][i], st.Phases["backward"][i] = compute[rank]/4, compute[rank]*3/4
			st.Phases["sync_exposed"][i], st.Phases["evaluation"][i] = exchange[rank], 0
			st.Delayed = append(st.Delayed, delayed[rank])
		}
		run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: st})
	}
	return run
}

// Time without a core is a phase of its own, for the worker that had none and for those that waited for it;
// what is left of the exchange is exchange, and the phases add up to the step as before.
func TestCoreWaits(t *testing.T) {
	for _, c := range []struct {
		name                       string
		strategy                   string
		compute, exchange, delayed []float64
		// Means over the ranks.
		wantCompute, wantExchange, wantCores float64
	}{
		{"three workers on two cores, of which the third runs last", "all-reduce",
			[]float64{0.04, 0.04, 0.08}, []float64{0.041, 0.041, 0.001}, []float64{0, 0, 0.0405},
			0.04, 0.001, 0.04},
		{"a slow worker that has its core", "all-reduce", []float64{0.04, 0.08}, []float64{0.042, 0.002},
			[]float64{0, 0}, 0.06, 0.022, 0},
		{"an exchange whose threads have no core for half of it", "all-reduce", []float64{0, 0},
			[]float64{0.02, 0.02}, []float64{0.01, 0.01}, 0, 0.01, 0.01},
		{"workers that meet nobody", "none", []float64{0.04, 0.08}, []float64{0, 0}, []float64{0, 0.04},
			0.04, 0, 0.02},
		{"delays of more threads than compute", "single", []float64{0.1}, []float64{0}, []float64{0.3}, 0, 0,
			0.1},
	} {
		s := record.Setting{Strategy: c.strategy, Workers: len(c.compute), Threads: 1, Steps: 40, Batch: 256,
			Shards: 4, Model: "vgg11", Data: "cifar10", Classes: 10}
		runs := []record.Run{waiting(s, c.compute, c.exchange, c.delayed)}
		r := &record.Results{Rounds: 1, Complete: true, Host: record.Machine{Cores: 2},
			Rows: []record.Row{{Setting: s, Runs: runs}}}
		p := compare.Compare(r).Groups[0].Lines[0].Phases
		near(t, c.name+": compute", p[0]+p[1], c.wantCompute, 1e-3)
		near(t, c.name+": exchange", p[2], c.wantExchange, 1e-3)
		near(t, c.name+": cores", p[5], c.wantCores, 1e-3)
		total := 0.0
		for i := range c.compute {
			total += (c.compute[i] + c.exchange[i]) / float64(len(c.compute))
		}
		near(t, c.name+": all", p[0]+p[1]+p[2]+p[5], total, 1e-12)
	}
}

// Eight workers on two cores compute as long as one where they wait before the exchange goes on: processor
// time until there is a gradient, and delays in the exchange, tell it. Of older files all parts shrink alike.
func TestCoreWaitsAreInTheirPart(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads int
		// Of each worker; late: delays in the exchange; before: processor time until the gradient.
		compute, exchange, delayed, late, before, cpu float64
		wantCompute, wantExchange, wantCores          float64
	}{
		{"woken late", 1, 0.01, 0.05, 0.058, 0.05, 0.01, 0.015, 0.01, 0.005, 0.045},
		{"woken late, in an older file", 1, 0.01, 0.05, 0.058, 0, 0, 0.012, 0.002, 0.01, 0.048},
		{"taken from computing", 1, 0.04, 0.01, 0.033, 0.003, 0.01, 0.012, 0.01, 0.007, 0.033},
		{"both", 1, 0.02, 0.04, 0.044, 0.034, 0.01, 0.013, 0.01, 0.006, 0.044},
		{"a slow link beside others' work", 1, 0.02, 0.04, 0.04, 0.001, 0.01, 0.013, 0.01, 0.039, 0.011},
		{"threads that idle", 2, 0.01, 0.002, 0.004, 0, 0.012, 0.012, 0.008, 0.002, 0.002},
		{"threads of the runtime", 1, 0.01, 0.002, 0.01, 0, 0.01, 0.012, 0.01, 0.002, 0},
	} {
		s := record.Setting{Strategy: "all-reduce", Workers: 8, Threads: c.threads, Steps: 40, Batch: 256,
			Shards: 8, Model: "vgg11", Data: "cifar10", Classes: 10}
		each := func(v float64) []float64 { return slices.Repeat([]float64{v}, s.Workers) }
		run := waiting(s, each(c.compute), each(c.exchange), each(c.delayed))
		for i := range run.Ranks {
			st := &run.Ranks[i].Steps
			st.Usage, st.CPU = st.Seconds, slices.Repeat(record.Numbers{c.cpu}, len(st.Seconds))
			if c.before > 0 {
				st.GradientCPU = slices.Repeat(record.Numbers{c.before}, len(st.Seconds))
				st.ExchangeDelayed = slices.Repeat(record.Numbers{c.late}, len(st.Seconds))
			}
		}
		r := &record.Results{Rounds: 1, Complete: true, Host: record.Machine{Cores: 2},
			Rows: []record.Row{{Setting: s, Runs: []record.Run{run}}}}
		p := compare.Compare(r).Groups[0].Lines[0].Phases
		near(t, c.name+": compute", p[0]+p[1], c.wantCompute, 1e-9)
		near(t, c.name+": exchange", p[2], c.wantExchange, 1e-9)
		near(t, c.name+": cores", p[5], c.wantCores, 1e-9)
	}
}

// A worker that leaves the exchange later than another, which has nothing to do with cores, waits for one no
// longer than threads of both did. A step's optimizer does not wait: nothing tells whether it did.
func TestCoreWaitsAreMeasured(t *testing.T) {
	s := record.Setting{Strategy: "gather-scatter", Workers: 2, Threads: 1, Steps: 40, Batch: 256, Shards: 4,
		Model: "vgg11", Data: "cifar10", Classes: 10}
	for _, delayed := range []float64{1e-9, 0.005} {
		run := waiting(s, []float64{0.04, 0.08}, []float64{0.06, 0.002}, []float64{delayed, 0})
		for i := range run.Ranks {
			st := &run.Ranks[i].Steps
			st.Phases["optimizer"] = slices.Repeat(record.Numbers{0.01}, len(st.Seconds))
			for at := range st.Seconds {
				st.Seconds[at] += 0.01
			}
		}
		r := &record.Results{Rounds: 1, Complete: true,
			Rows: []record.Row{{Setting: s, Runs: []record.Run{run}}}}
		p := compare.Compare(r).Groups[0].Lines[0].Phases
		all := 0.0
		for _, v := range p {
			all += v
		}
		if share := p[5] / all * (0.11 + 0.092); share > 2*delayed || share < delayed/2 {
			t.Errorf("%v s without a core in a step of two ranks, of which one waited %v", share, delayed)
		}
		near(t, "optimizer", p[3]/all*(0.11+0.092), 0.02, 1e-12)
	}
}

// Communication beside computation is hidden without the time in which no thread of the rank had a core. That
// of a thread which the exchange woke was not beside it.
func TestHiddenCommunicationHadACore(t *testing.T) {
	s := record.Setting{Strategy: "ddp", Workers: 3, Threads: 1, Steps: 40, Batch: 256, Shards: 3,
		Model: "vgg11", Data: "cifar10", Classes: 10}
	run := waiting(s, []float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1, 0.1}, []float64{0.1, 0, 0.1})
	for i := range run.Ranks {
		run.Ranks[i].Hidden = new(0.08)
	}
	last := &run.Ranks[2].Steps
	last.ExchangeDelayed, last.GradientCPU = last.Delayed, slices.Repeat(record.Numbers{0.1}, s.Steps)
	r := &record.Results{Rounds: 1, Complete: true, Rows: []record.Row{{Setting: s, Runs: []record.Run{run}}}}
	near(t, "hidden", compare.Compare(r).Groups[0].Lines[0].Hidden, (0.04+0.08+0.08)/3, 1e-9)
}

// Threads of the runtime wait for cores too while the worker computes: no more counts than the processor time
// of its threads leaves.
func TestCoreWaitsLeaveProcessorTime(t *testing.T) {
	s := record.Setting{Strategy: "single", Workers: 1, Threads: 1, Steps: 40, Batch: 256, Shards: 4,
		Model: "vgg11", Data: "cifar10", Classes: 10}
	run := waiting(s, []float64{0.1}, []float64{0}, []float64{0.05})
	st := &run.Ranks[0].Steps
	for range st.Seconds {
		st.Usage, st.CPU = append(st.Usage, 0.1), append(st.CPU, 0.09)
	}
	r := &record.Results{Rounds: 1, Complete: true, Rows: []record.Row{{Setting: s, Runs: []record.Run{run}}}}
	near(t, "cores", compare.Compare(r).Groups[0].Lines[0].Phases[5], 0.01, 1e-9)
}

// The steps of ranks that take turns on a core take as long as the run in all, not as the longer of each
// pair. A rank that has more steps than others goes on alone.
func TestStepsOfRanksThatTakeTurns(t *testing.T) {
	var run record.Run
	for _, seconds := range [][]float64{{2, 3, 1, 3, 1}, {2, 1, 3, 1, 3, 2}} {
		run.Ranks = append(run.Ranks, record.Rank{Steps: record.Steps{Seconds: seconds}})
	}
	if got, want := compare.StepSeconds(&run), []float64{2, 3, 1, 3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
