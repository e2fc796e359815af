package commbench_test

import (
	"context"
	"fmt"
	"log"

	"lockstep/app/commbench"
)

// Two ranks, goroutines of this process, add vectors of 4 KiB by halves: each sums one and sends it back.
func ExampleRun() {
	records, err := commbench.Run(context.Background(), commbench.Config{
		Operations: []string{"all-reduce"}, Algorithms: []string{"direct"},
		Codecs: []string{"fp32"}, Streams: []int{1},
		Links: []string{"local"}, Ranks: []int{2}, Bytes: []int{4096}, Repeats: 1,
	}, commbench.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range records {
		fmt.Printf("%s: %d bytes sent by the busiest rank, %d by the formula\n",
			r.Algorithm, r.Sent, r.Formula)
	}
	// Output: direct: 4096 bytes sent by the busiest rank, 4096 by the formula
}
