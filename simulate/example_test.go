package simulate_test

import (
	"fmt"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/simulate"
)

func ExampleSteps() {
	steps, err := simulate.Steps(simulate.Job{
		Strategy: "ddp",
		Topology: comm.NewTopology([]string{"a", "b"}),
		Workers:  []simulate.Passes{{Forward: 0.1, Backward: 0.2, Update: 0.01}},
		Network:  simulate.Network{Outside: simulate.Link{Latency: 1e-4, Byte: 8e-9}}, // 1 Gbit/s
		Model:    simulate.Model{Segments: []gradsync.Segment{{Len: 1 << 20}}, Order: []int{0}},
	}, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d step of %.0f ms of computation\n", len(steps), 1e3*steps[0].Compute)
	// Output:
	// 1 step of 300 ms of computation
}
