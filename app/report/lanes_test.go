package report_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/report"
	"lockstep/trace"
)

// recordSpans writes the spans of two ranks, of which rank 1 comes to every exchange 20 ms after rank 0.
func recordSpans(t *testing.T, folder string, steps int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, "spans"), 0o755); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for rank, busy := range []int{10, 30} {
		r := trace.NewRecorder(rank, func() (io.WriteCloser, error) {
			return os.Create(filepath.Join(folder, "spans", []string{"rank0", "rank1"}[rank]))
		})
		train, exchange := r.Track(trace.TrainTrack), r.Track("exchange")
		for step := range steps {
			ms := func(n int) time.Time { return start.Add(time.Duration(40*step+n) * time.Millisecond) }
			x := trace.Exchange{Waited: ms(30).Sub(ms(busy)), Peer: 1 - rank}
			train.Span("backward", step, ms(0), ms(busy))
			exchange.Exchange("bucket", 0, ms(busy), ms(36), x)
			train.Span("wait", step, ms(busy), ms(36))
			train.Span(trace.StepSpan, step, ms(0), ms(36))
		}
		r.SetSkew(trace.Skew{IsKnown: true})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The page of a run draws its median step, with who waited for whom, and says which rank came last.
func TestLanesOfATrainingRun(t *testing.T) {
	folder := trainingRun(t)
	render := func() string {
		if err := report.WriteTraining(folder); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	if strings.Contains(render(), "What waited for what") {
		t.Error("lanes of a run without spans")
	}
	recordSpans(t, folder, 60)
	page := render()
	for _, want := range []string{"What waited for what in step", `class="hatch"`, ">rank 1</text>",
		"what the end of the step waited for", "bucket 0", "Of 58 steps rank 1 was the last to arrive " +
			"in 100 %, by 20 ms on average: more often than by chance"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	damaged := filepath.Join(folder, "spans", "rank1")
	if err := os.WriteFile(damaged, []byte("no spans"), 0o644); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(render(), "What waited for what") {
		t.Error("lanes of damaged spans")
	}
}
