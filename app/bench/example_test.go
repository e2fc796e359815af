package bench_test

import (
	"fmt"
	"log"

	"lockstep/app/bench"
	"lockstep/app/setting"
)

// Expand lists the rows of a benchmark; Trials puts their runs in turn, so that a slow minute of the
// machine falls on all rows.
func ExampleExpand() {
	plan, err := bench.Expand(bench.Config{
		Parts: []bench.Part{{Base: setting.Default(), Models: []string{"lenet"},
			Strategies: []string{"all-reduce", "ddp"}, Workers: []int{2}, Batches: []int{64}}},
		Repeats: 2, Cores: 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range plan.Trials() {
		fmt.Println("round", t.Round, plan.Rows[t.Row].Name())
	}
	// Output:
	// round 0 lenet all-reduce 2×1
	// round 0 lenet ddp 2×1
	// round 1 lenet ddp 2×1
	// round 1 lenet all-reduce 2×1
}
