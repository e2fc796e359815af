package claim_test

import (
	"fmt"
	"strings"
	"testing"
)

// Rows are equally fast if their times are near each other and their runs do not tell them apart.
func TestEquallyFast(t *testing.T) {
	const head = "| strategy | workers | step ms | run 1 | run 2 | run 3 | run 4 | run 5 | run 6 |\n" +
		"|---|---|---|---|---|---|---|---|---|\n"
	for _, c := range []struct{ rows, want string }{
		{"| ddp | 2 | 100 | | | | | | |\n| ps | 2 | 103 | | | | | | |\n", "holds"},
		{"| ddp | 2 | 100 | | | | | | |\n| ps | 2 | 110 | | | | | | |\n", "refused: wrong denominators"},
		{"| ddp | 2 | 110 | | | | | | |\n| ps | 2 | 100 | | | | | | |\n", "refused: wrong denominators"},
	} {
		r := check(t, "report.md", head+c.rows+"\nDDP and ps are equally fast.\n")
		if text := render(r); !strings.Contains(text, c.want+": \"DDP and ps") &&
			!strings.Contains(text, c.want+", sentence") {
			t.Errorf("want %s:\n%s", c.want, text)
		}
	}
	// Six runs of each in CSV, as docs/check.md has them: 3 % apart, and never across.
	var rows strings.Builder
	rows.WriteString("strategy,workers,repeat,step ms\n")
	for i, ms := range []float64{100, 100.1, 100.2, 99.9, 99.8, 100.1, 100, 99.9} {
		fmt.Fprintf(&rows, "ddp,2,%d,%g\nps,2,%d,%g\n", i+1, ms, i+1, ms+3)
	}
	r := check(t, "x.csv", rows.String()+"# ddp and ps are equally fast.\n")
	if text := render(r); !strings.Contains(text, "the runs tell them apart") {
		t.Errorf("want the runs to tell them apart:\n%s", text)
	}
}
