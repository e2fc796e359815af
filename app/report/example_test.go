package report_test

import (
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/report"
)

// A page is one file: styles and plots are inside, and it loads nothing.
func ExampleCollectives() {
	measured := []compare.Collective{{Operation: "all-reduce", Algorithm: "direct",
		Link: "shm", Codec: "fp32", Hosts: 1, Ranks: 2, Bytes: 4096, Repeats: 5,
		Seconds: compare.Quantiles{Median: 4e-6, P10: 3e-6, P90: 6e-6}}}
	list, err := json.Marshal(measured)
	if err != nil {
		log.Fatal(err)
	}
	r, err := report.Collectives(report.Measured{Collectives: list})
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
