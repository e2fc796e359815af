package explain_test

import (
	"fmt"

	"lockstep/app/explain"
	"lockstep/app/record"
)

// Two workers, of which the second computes 4 ms longer than before: the other waits for it.
func Example() {
	side := func(name string, late float64) explain.Side {
		run := record.Run{}
		for rank, compute := range []float64{0.010, 0.010 + late} {
			s := record.Steps{Phases: map[string]record.Numbers{}}
			for range 40 {
				wait := 0.011 + late - compute
				s.Seconds = append(s.Seconds, compute+wait)
				s.Shards = append(s.Shards, 1)
				s.Phases["forward"] = append(s.Phases["forward"], compute)
				s.Phases["sync_exposed"] = append(s.Phases["sync_exposed"], wait)
			}
			run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: s})
		}
		row := record.Row{Runs: []record.Run{run}, Setting: record.Setting{Model: "lenet", Strategy: "ddp",
			Workers: 2, Threads: 1, Batch: 64, Shards: 2}}
		return explain.NewSide(name, &row)
	}
	e, err := explain.Decompose(side("before", 0), side("after", 0.004))
	if err != nil {
		fmt.Println(err)
		return
	}
	worst := e.Terms[0]
	fmt.Printf("%.1f ms longer: %s, worker %d, %.1f ms\n", e.DifferenceMS, e.Culprit, *worst.Rank, worst.MS)
	// Output: 4.0 ms longer: straggler, worker 1, 4.0 ms
}
