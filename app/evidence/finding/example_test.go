package finding_test

import (
	"fmt"

	"lockstep/app/evidence/finding"
)

// A finding says what was found and where, and leaves the words to a report.
func Example() {
	f := finding.Finding{Rule: "contention", Severity: finding.Caution, Rows: []string{"ddp 8×1"},
		Values: finding.Values{"cores": 4}}
	fmt.Println(f.Severity, f.Rule, f.Rows, f.Values["cores"])
	// Output: caution contention [ddp 8×1] 4
}
