package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/roofline"
	"lockstep/cluster"
)

// A note of a benchmark has a line of its own, on a terminal too.
func TestNoteOfABenchmark(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, isTerminal: true, columns: func() int { return 20 }}
	p.bench(bench.Progress{Run: 1, Runs: 2, Name: "a"})
	p.bench(bench.Progress{Note: "longer than the terminal is wide"})
	if want := "note: longer than the terminal is wide\n"; !strings.HasSuffix(out.String(), "\r\x1b[K"+want) {
		t.Errorf("got %q, want %q on a line of its own", out.String(), want)
	}
}

// Quiet benchmarks say nothing, whatever they have to show.
func TestQuietBenchmarksShowNothing(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&app{stderr: &out, environment: cluster.Environment{}}, true)
	p.bench(bench.Progress{Done: true, Run: 1, Runs: 1})
	p.commbench(1, 1, "all-reduce")
	p.kernels(roofline.Progress{Name: "lenet"})
	if out.Len() > 0 {
		t.Errorf("quiet progress: %q", out.String())
	}
}

// A line that is to be rewritten never reaches the last column, however narrow the terminal is.
func TestProgressFitsTheTerminal(t *testing.T) {
	for width := range 120 {
		var out bytes.Buffer
		p := &progress{w: &out, isTerminal: true, columns: func() int { return width }}
		p.show(launcher.Progress{Phase: "forward", Step: 1234, Steps: 56789, Epoch: 3, Loss: 0.5,
			Samples: 78976, Trained: 10 * time.Second, Remaining: 2 * time.Hour})
		line := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K")
		if len(line) > max(0, width-1) {
			t.Errorf("%d columns: %q has %d", width, line, len(line))
		}
	}
}

// A run whose length is a time shows how much of it is over, and no number of steps.
func TestProgressOfATime(t *testing.T) {
	s := launcher.Progress{Phase: "evaluation", Step: 7, Epoch: 1, Loss: 0.5, Samples: 70,
		Elapsed: 50 * time.Second, Trained: 10 * time.Second,
		Length: 40 * time.Second, Remaining: 30 * time.Second}
	want := "epoch 2  step 7  loss 0.5000  7 samples/s  30s left"
	if got := progressLine(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Trained, s.Remaining = 41*time.Second, 0
	if got := progressLine(s); !strings.HasSuffix(got, "  evaluation") {
		t.Errorf("after its time: %q", got)
	}
}

// Evaluations are rows of a table, whose head is shown once and in whose place the line of the moment is
// erased.
func TestProgressOfEvaluations(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, isTerminal: true, columns: func() int { return 80 }}
	p.show(launcher.Progress{Phase: "load data"})
	p.show(launcher.Progress{Evaluation: &record.Evaluation{Loss: 2.302585, Accuracy: 0.1,
		WallSeconds: 0.25}})
	p.show(launcher.Progress{Evaluation: &record.Evaluation{Part: "validation", Rank: 3, Steps: 1500,
		Epochs: 12.007673, Loss: 0.12345, Accuracy: 0.98765, Rate: 0.05, WallSeconds: 1234.56}})
	p.show(launcher.Progress{Evaluation: &record.Evaluation{Steps: 6, Epochs: 0.007673, Loss: 2.3054,
		Accuracy: 0.5, Rate: 0.02, WallSeconds: 2.8}})
	want := "\rload data\x1b[K\r\x1b[K" +
		" epoch  rank  part              loss    accuracy  learning rate  wall time\n" +
		"     0     0  test            2.3026     10.00 %              -      0.2 s\n" +
		" 12.01     3  validation      0.1235     98.77 %           0.05   1234.6 s\n" +
		"0.0077     0  test            2.3054     50.00 %           0.02      2.8 s\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// A resumed run has no speed before its first step, and an evaluation says how much of it is done.
func TestProgressSaysWhatIsKnown(t *testing.T) {
	for want, s := range map[string]launcher.Progress{
		"epoch 3  step 40/80":       {Phase: "forward", Step: 40, Steps: 80, Epoch: 2},
		"evaluation 25 %, 41s left": {Phase: "evaluation", Scored: 0.25, Remaining: 41 * time.Second},
		"epoch 3  step 80/80  loss 0.5000  7 samples/s  evaluation 25 %, 41s left": {Phase: "evaluation",
			Step: 80, Steps: 80, Epoch: 2, Loss: 0.5, Samples: 70, Trained: 10 * time.Second, Scored: 0.25,
			Remaining: 41 * time.Second},
	} {
		if got := progressLine(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
