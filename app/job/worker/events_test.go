package worker

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/host"
	"lockstep/app/rundir"
	"lockstep/trace"
	"lockstep/train"
)

// The first step is written at once, then one per eventsEvery; an evaluation always. That the file reads well
// is tensorboard's test.
func TestEvents(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	e, err := openEvents(dir, 3, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	s := train.Step{Loss: 2, Time: time.Millisecond, Phases: trace.Phases{trace.Forward: time.Millisecond}}
	written := 0
	for s.Number = range 301 { // at 0, 100, 200 and 300 ms
		before := e.next
		e.step(now.Add(time.Duration(s.Number)*time.Millisecond), s,
			host.Usage{Wall: 2 * time.Millisecond, CPU: 4 * time.Millisecond, RSS: 1}, 7)
		if e.next != before {
			written++
		}
	}
	if written != 4 {
		t.Errorf("%d of 301 steps in 300 ms were written, want 4", written)
	}
	for _, tag := range e.scalars {
		switch want := tag.Value; tag.Tag {
		case "step/ms", "phase ms/forward":
			if want != 1 {
				t.Errorf("%s: %v, want 1", tag.Tag, want)
			}
		case "worker/CPUs":
			if want != 2 {
				t.Errorf("%s: %v, want 2", tag.Tag, want)
			}
		}
	}
	e.evaluation(now, train.Evaluation{Steps: 300, Loss: 0.5, Correct: 1, Samples: 2}, 0.5)
	if n := testing.AllocsPerRun(100, func() { e.step(now, s, host.Usage{}, 0) }); n != 0 {
		t.Errorf("%v allocations in a step, want 0", n)
	}
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	if e.evaluation(now.Add(2*time.Second), train.Evaluation{Samples: 1}, 0); e.err == nil {
		t.Error("no error of a file that cannot be written")
	}
	for _, tag := range append(sharedTags(), "worker/memory bytes", "worker/GPU memory bytes") {
		if !bytes.Contains(eventsOf(t, dir, 3), []byte(tag)) {
			t.Errorf("no %s in the file", tag)
		}
	}
}

// sharedTags are of what is the same on all ranks.
func sharedTags() []string {
	return []string{"loss/train", "learning rate", "loss/test", "accuracy/test"}
}

// eventsOf returns what a rank wrote.
func eventsOf(t *testing.T, dir rundir.Directory, rank int) []byte {
	t.Helper()
	files, _ := filepath.Glob(dir.Path(fmt.Sprintf("events/rank%d/events.out.tfevents.*", rank)))
	if len(files) != 1 {
		t.Fatalf("files %v, want one", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A rank that does not speak writes what it took, and nothing that all ranks share.
func TestEventsOfOtherRanks(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	e, err := openEvents(dir, 1, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	e.step(now, train.Step{Loss: 2, Time: time.Millisecond}, host.Usage{Wall: time.Millisecond}, 0)
	e.evaluation(now, train.Evaluation{Steps: 1, Correct: 1, Samples: 2}, 0.5)
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	text := eventsOf(t, dir, 1)
	for _, tag := range append(sharedTags(), "worker/GPU memory bytes") { // it has no GPU
		if bytes.Contains(text, []byte(tag)) {
			t.Errorf("%s in the file", tag)
		}
	}
	if !bytes.Contains(text, []byte("step/ms")) {
		t.Error("no time of the step in the file")
	}
}
