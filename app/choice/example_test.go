package choice_test

import (
	"fmt"

	"lockstep/app/choice"
	"lockstep/app/record"
	"lockstep/comm"
)

// Two workers that compute for 100 ms and exchange 40 MB over 1 Gbit/s: what hides the exchange is faster.
func ExampleRank() {
	p := record.Probe{Compute: []float64{0.1, 0.1}, Forward: 0.03, Backward: 0.06, Update: 0.002, Bytes: 40e6,
		Tensors: 30, Bucket: 1 << 20, Link: comm.LinkSpeed{Latency: 1e-4, Byte: 8e-9}}
	ranking := choice.Rank(p, []choice.Way{{Strategy: "all-reduce"}, {Strategy: "ddp"}})
	for _, t := range ranking {
		fmt.Printf("%s: %.0f ms, of which %.0f exposed exchange\n", t.Strategy, 1e3*t.Step, 1e3*t.Exposed)
	}
	// Output:
	// ddp: 370 ms, of which 268 exposed exchange
	// all-reduce: 428 ms, of which 326 exposed exchange
}
