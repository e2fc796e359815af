package forecast_test

import (
	"fmt"

	"lockstep/comm"
	"lockstep/forecast"
	"lockstep/shard"
	"lockstep/simulate"
)

// run is a strategy of workers with a host each, and four shards of eight samples.
func run(way string, workers int) forecast.Run {
	plan, _ := shard.Cut(max(4, workers), workers)
	var hosts []string
	for rank := range workers {
		hosts = append(hosts, fmt.Sprint(rank))
	}
	return forecast.Run{Way: way, Hosts: workers, Batch: 8 * plan.Shards(),
		Job: simulate.Job{Strategy: way, Plan: plan, Topology: comm.NewTopology(hosts)}}
}

// Four workers on the two cores of a machine take twice as long as on cores of their own.
func ExampleInputs_Row() {
	k := &forecast.Calibration{Shapes: []forecast.Passes{{Samples: 8, Shards: 4, Forward: 0.04,
		Backward: 0.08}}}
	in := forecast.Inputs{PerHost: 4, Cores: 2, IsLab: true}
	row, err := in.Row(k, run("none", 4), run("none", 2), run("single", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f ms, between %.0f and %.0f\n", row.Step.Median, row.Step.Low, row.Step.High)
	// Output:
	// 60 ms, between 54 and 66
}
