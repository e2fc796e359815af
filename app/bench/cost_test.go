package bench

import (
	"testing"

	"lockstep/app/host"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// Eight times as many workers as cores compute for eight times as long as one of them would alone.
func TestProbesOfWorkersThatShareCores(t *testing.T) {
	workers := 8 * host.Cores()
	probe := record.Probe{Compute: make([]float64, workers), Shards: workers, Tensors: 1}
	for rank := range probe.Compute {
		probe.Compute[rank] = 0.8
	}
	widest := Row{Config: setting.Config{Model: "lenet", Workers: workers}}
	widest.Threads, widest.Batch = 1, workers
	one := widest
	one.Workers = 1
	hosts := "a=127.0.0.1=9,b=127.0.0.2=9"
	alone := Options{}
	apart := Options{Job: launcher.Options{Environment: cluster.Environment{cluster.EnvHosts: hosts}}}
	lab := Options{Job: launcher.Options{Environment: cluster.Environment{
		cluster.EnvHosts: hosts, cluster.EnvLab: "1"}}}
	for _, c := range []struct {
		options Options
		want    float64
	}{{alone, 0.1 * float64(workers)}, {lab, 0.1 * float64(workers)}, {apart, 0.8 * float64(workers)}} {
		got := one.cost(probe, 1, c.options.coreShare(widest)).step
		if got < 0.999*c.want || got > 1.001*c.want {
			t.Errorf("%v: one worker's step takes %v s, want %v", c.options.Job.Environment, got, c.want)
		}
	}
}
