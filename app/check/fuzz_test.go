package check_test

import (
	"io"
	"strings"
	"testing"

	"lockstep/app/check"
)

// No document makes a check panic.
func FuzzRead(f *testing.F) {
	f.Add("a.md", "| gpus | time (s) | speedup |\n|---|---|---|\n| 1 | 10.5 | 1 |\n| 2 | 5-6 | 1.9x ± 0.1 "+
		"|\n\nTotal: 1h 20m, $3/hour, ~5.\n")
	f.Add("a.csv", "a,b\n1,2\n")
	f.Add("a.json", `[{"a":1,"b":"2 s"},{"a":null}]`)
	f.Add("a.txt", "Node 0 (Rank 0)\nEpoch\tLoss\n1\t2.5\nAccuracy: 1/3 (33%)\n00:01:15 1e-3 1,000 "+
		"20/196\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		d, err := check.Read(strings.NewReader(text), name)
		if err != nil {
			return
		}
		if err := check.Write(io.Discard, check.Check(d)); err != nil {
			t.Fatal(err)
		}
	})
}
