package claim_test

import (
	"strings"
	"testing"
)

// scaled is a table in which a name alone is not yet a row.
const scaled = "A machine with 4 cores, median of 5 runs.\n\n" +
	"| strategy | workers | batch | step ms | low | high | speed-up | efficiency |\n" +
	"|---|---|---|---|---|---|---|---|\n" +
	"| single | 1 | 64 | 100 | 99 | 101 | 1.00 | 100 % |\n" +
	"| ddp | 2 | 64 | 55 | 54.5 | 55.5 | 1.82 | 91 % |\n" +
	"| ddp | 4 | 64 | 30 | 29.5 | 30.5 | 3.33 | 83 % |\n" +
	"| gather | 4 | 64 | 61 | 60.5 | 61.5 | 1.64 | 41 % |\n\n"

// The number of workers may stand apart from the name of the strategy.
func TestCountsThatStandApart(t *testing.T) {
	for _, c := range []struct{ text, right, wrong string }{
		{"DDP achieves a speedup of # with 4 workers.", "3.33x", "1.82x"},
		{"With 2 workers ddp achieves a speedup of #.", "1.82x", "3.33x"},
		{"DDP achieves a speedup of 3.33x with # workers.", "4", "2"},
		{"DDP reaches # scaling efficiency on 4 workers.", "83%", "91%"},
		{"At 4 workers the efficiency of ddp is #.", "83%", "91%"},
		{"DDP is # faster than gather with 4 workers.", "2x", "3x"},
		{"On 4 workers, ddp takes # per step.", "30 ms", "55 ms"},
		{"DDP processes # samples per second on 4 workers.", "2133", "1164"},
		{"DDP's step time is # on 4 workers.", "30 ms", "55 ms"},
		{"The speedup of ddp grows from # on 2 workers to 3.33x on 4 workers.", "1.82x", "2.2x"},
		{"The speedup of ddp grows from 1.82x with 2 workers to # with 4.", "3.33x", "3.9x"},
		{"DDP reaches a speedup of # with 2 workers and 3.33x with 4 workers.", "1.82x", "2.2x"},
		{"DDP is faster than gather by # with 4 workers.", "103%", "203%"},
		{"The efficiency of ddp falls from 91% with 2 workers to # with 4 workers.", "83%", "73%"},
	} {
		judges(t, scaled, c.text, c.right, c.wrong)
	}
}

// A count that no row of the name has keeps a sentence from being understood: it holds of no other row.
func TestCountsThatNoRowHas(t *testing.T) {
	for _, text := range []string{
		"DDP achieves a speedup of 3.33x with 8 workers.",
		"Gather achieves a speedup of 1.64x with 2 workers.",
		"DDP is 1.8x faster than gather on 2 workers.",
		"The speedup of ddp grows from 1.82x on 2 workers to 3.33x on 8 workers.",
	} {
		r := check(t, "report.md", scaled+text+"\n")
		shown := render(r)
		if strings.Contains(shown, "holds: ") || !strings.Contains(shown, "not checked: ") {
			t.Errorf("%s\n%s", text, shown)
		}
	}
}
