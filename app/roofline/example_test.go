package roofline_test

import (
	"context"
	"log"
	"os"

	"lockstep/app/evidence/compare"
	"lockstep/app/report"
	"lockstep/app/roofline"
	"lockstep/compute"
)

// Every op of a step is timed beside what the machine reaches. It takes seconds, and no two runs print the
// same.
func ExampleRun() {
	k, err := roofline.Run(context.Background(), roofline.Config{
		Model: "lenet", Batch: 16, Size: 32, Threads: 1, ISA: compute.Best(), Repeats: 5,
	}, compare.Kernels{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := report.Kernels(k, false).Text(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
