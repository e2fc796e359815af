package variant_test

import (
	"fmt"
	"time"

	"lockstep/app/bench"
	"lockstep/app/explain/variant"
	"lockstep/app/record"
	"lockstep/app/setting"
)

// A run with two workers is held against one worker alone, and runs a third time without any exchange.
func Example() {
	c := setting.Default()
	c.Workers, c.Strategy, c.Threads, c.Shards = 2, "ddp", 1, 4
	row := record.Row{Setting: record.Setting{Model: "lenet", Strategy: "ddp", Workers: 2, Threads: 1,
		Batch: 64, Shards: 4}, Runs: []record.Run{{Ranks: make([]record.Rank, 2)}}}
	for rank := range 2 {
		s := &row.Runs[0].Ranks[rank].Steps
		s.Seconds = record.Numbers{0.002, 0.002, 0.002, 0.002}
	}
	x, err := variant.Ideal(bench.Subject{Row: bench.Row{Config: c}, Record: row, Name: "it"}, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range x.Plan.Rows {
		fmt.Println(r.Name(), "batch", r.Batch)
	}
	// Output:
	// lenet single 1×1 batch 32
	// lenet ddp 2×1 batch 64
	// lenet none 2×1 batch 64
}
