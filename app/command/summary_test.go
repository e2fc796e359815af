package command

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// Texts that are too long are those that a run may read, not those that it has read.
func TestSummaryCountsLongTexts(t *testing.T) {
	for want, texts := range map[string]*record.TextStat{
		"":                               {Vocabulary: 5},
		"38 test texts, cut when read":   {TestCut: 38},
		"1 training text, cut when read": {TrainCut: 1},
		"595 training texts and 1 test text, cut when read": {TrainCut: 595, TestCut: 1},
	} {
		if got := cutTexts(texts); got != want {
			t.Errorf("%+v: %q, want %q", texts, got, want)
		}
	}
	if got := cutTexts(nil); got != "" {
		t.Errorf("of images: %q", got)
	}
}

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
