package command

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// The name of a folder of data may hold what a terminal acts on.
func TestSummaryIsPlain(t *testing.T) {
	s := &record.Summary{}
	s.Data, s.Workers, s.Threads = "a\x1b[31m\u202e\nb", 1, 1
	s.Directory = "runs/a\x1b[31m"
	var out strings.Builder
	if err := printSummary(&out, s); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(out.String(), "\n")
	if want := `on a\u001b[31m\u202e\u000ab:`; !strings.Contains(first, want) {
		t.Errorf("first line %q, want %q", first, want)
	}
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), `runs/a\u001b[31m`) {
		t.Errorf("%q, want the folder's name without what a terminal acts on", out.String())
	}
}
