package check_test

import (
	"fmt"
	"os"
	"strings"

	"lockstep/app/check"
)

func ExampleCheck() {
	d, err := check.Read(strings.NewReader("workers,step ms,speedup\n1,100,1.00\n2,56,1.95\n"), "table.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = check.Write(os.Stdout, check.Check(d))
	// Output:
	// refused: speed-up, line 2 and 3: a speed-up is not what the baseline and its own row give
	//     100 against 56 is 1.786, not 1.95
	//     would answer it: the times of both rows, taken over the same work
	// warning: one run, line 2 and 3: one run each: nothing tells how much runs of one configuration differ
	//     100 and 56, each once
	//     would answer it: several runs of each row, in turn, with their spread
	// 6 of 6 figures read: 1 refused, 1 warning
}
