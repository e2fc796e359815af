package bench

import (
	"testing"

	"lockstep/app/host"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
)

// Eight times as many workers as cores compute for as long as their work takes on these cores. Rows of fewer
// workers, and of other threads, take as long as it does on theirs.
func TestProbesOfWorkersThatShareCores(t *testing.T) {
	all := host.Cores()
	hosts := "a=127.0.0.1=9,b=127.0.0.2=9"
	alone := Options{}
	apart := Options{Job: launcher.Options{Environment: cluster.Environment{cluster.EnvHosts: hosts}}}
	lab := Options{Job: launcher.Options{Environment: cluster.Environment{
		cluster.EnvHosts: hosts, cluster.EnvLab: "1"}}}
	probe := record.Probe{Compute: make([]float64, 8*all), Shards: 8 * all, Tensors: 1}
	for rank := range probe.Compute {
		probe.Compute[rank] = 0.8
	}
	row := func(workers, threads int) Row {
		r := Row{Config: setting.Config{Model: "lenet", Workers: workers}}
		r.Threads, r.Strategy, r.Batch, r.Shards, r.Accumulate = threads, strategy.DDP, 8*all, 8*all, 1
		r.Optimizer.Name, r.Algorithm = "sgd", "auto"
		return r
	}
	work := 0.8 * float64(all) // core seconds of a step, of workers that share cores
	for _, c := range []struct {
		options                Options
		probed, workers, cores int // threads of a worker that was probed; of a row
		want                   float64
	}{
		{alone, 1, 1, 1, work},
		{lab, 1, 1, 1, work},
		{apart, 1, 1, 1, 8 * work},
		{alone, 2, 1, 1, work},
		{alone, 2, 1, all, work / float64(all)},
		{apart, 2, 1, 2, 8 * work},
		{alone, 1, all, 1, work / float64(all)},
		{alone, 1, 8 * all, 1, work / float64(all)},
		{alone, 2, 2 * all, 2, work / float64(all)},
		{apart, 1, 2 * all, 1, 4 * work / float64(all)},
	} {
		widest, r := row(8*all, c.probed), row(c.workers, c.cores)
		got := r.cost(probe, 1, c.options.cores(widest)/c.options.cores(r)).step
		if got < 0.99*c.want || got > 1.01*c.want {
			t.Errorf("%v: a step of %d workers of %d threads takes %v s, want %v, probed with %d threads",
				c.options.Job.Environment, c.workers, c.cores, got, c.want, c.probed)
		}
	}
}

// All samples of an evaluation are passed forward on the cores that a row has, however many were probed.
func TestEvaluationsOfFewerWorkers(t *testing.T) {
	probe := record.Probe{Compute: []float64{0.3, 0.3, 0.3, 0.3}, Forward: 0.1}
	r := Row{Config: setting.Config{Workers: 1}}
	r.Batch, r.Accumulate, r.LimitTest = 64, 1, 640
	for _, cores := range []float64{1, 0.5} { // times those of the row
		if got, want := r.cost(probe, 0, cores).start, 0.3+10*0.4*cores; got < 0.99*want || got > 1.01*want {
			t.Errorf("%v times the cores: an evaluation takes %v s, want %v", cores, got-0.3, want-0.3)
		}
	}
}
