package report_test

import (
	"fmt"
	"log"
	"strings"

	"lockstep/app/record"
	"lockstep/app/report"
)

// A page is one file: styles and plots are inside, and it loads nothing.
func ExampleCollectives() {
	measured := []record.Collective{{Operation: "all-reduce", Algorithm: "direct",
		Link: "shm", Codec: "fp32", Hosts: 1, Ranks: 2, Bytes: 4096, Repeats: 5,
		Seconds: record.Quantiles{Median: 4e-6, P10: 3e-6, P90: 6e-6}}}
	r, err := report.Collectives(report.Measured{Collectives: measured})
	if err != nil {
		log.Fatal(err)
	}
	var page strings.Builder
	if err := r.HTML(&page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(page.String(), "<svg"), "plots")
	fmt.Println(strings.Count(page.String(), "<script"), "scripts")
	// Output:
	// 3 plots
	// 0 scripts
}
