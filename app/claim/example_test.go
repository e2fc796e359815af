package claim_test

import (
	"fmt"
	"strings"

	"lockstep/app/claim"
)

// A table and a sentence that its figures do not give.
func Example() {
	text := `strategy,workers,step ms,runs
single,1,100 ± 2,6
ddp,2,56 ± 1,6
# ddp is 1.95x faster than single.`
	d, err := claim.Read(strings.NewReader(text), "table.csv")
	if err != nil {
		panic(err)
	}
	for _, s := range claim.Check(d).Statements {
		fmt.Printf("%s\n%s:\n%s\n", s.Text, s.Verdict, s.Why)
	}
	// Output:
	// ddp is 1.95x faster than single.
	// refused:
	// by the step ddp is 1.786× as fast as single (56 ms and 100 ms)
}
