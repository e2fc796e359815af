package rundir

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"lockstep/app/record"
)

// A step without a sample of its own has no own loss: null, as JSON has no NaN.
func TestStepLineWithoutOwnSamplesIsJSON(t *testing.T) {
	dir := Directory(t.TempDir())
	log, err := dir.OpenStepLog(false)
	if err != nil {
		t.Fatal(err)
	}
	log.Add(record.Step{Rank: 1, Step: 3, Samples: 2, Loss: 2.25, OwnLoss: record.Number(math.NaN())}, false)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir.Path(StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if own, ok := line["own_loss"]; !ok || own != nil || line["loss"] != 2.25 || line["rank"] != 1.0 {
		t.Errorf("line %s, want loss 2.25 of rank 1 and own_loss null", text)
	}
}

// Cutting takes no room: the file stays the same, and lines of two ranks that are kept stay in order.
func TestStepsAreCutInPlace(t *testing.T) {
	dir := Directory(t.TempDir())
	line := func(rank, step int) string { return fmt.Sprintf("{\"rank\":%d,\"step\":%d}\n", rank, step) }
	text := line(0, 0) + line(1, 0) + line(0, 1) + line(0, 2) + line(1, 1) + line(1, 2) + `{"rank":0,"st`
	if err := os.WriteFile(dir.Path(StepsFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir.Path(StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Reclaim(string(dir), 2, nil)
	if err != nil || d.Uncut != nil {
		t.Fatal(err, d.Uncut)
	}
	defer d.Unlock()
	after, err := os.Stat(dir.Path(StepsFile))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("another file: %v", err)
	}
	got, err := os.ReadFile(dir.Path(StepsFile))
	if want := line(0, 0) + line(1, 0) + line(0, 1) + line(1, 1); err != nil || string(got) != want {
		t.Errorf("%v, left %q, want %q", err, got, want)
	}
}

// A step log that cannot be cut, which a folder plays, keeps no run from going on.
func TestUncutStepsDoNotStopARun(t *testing.T) {
	dir := Directory(t.TempDir())
	if err := os.Mkdir(dir.Path(StepsFile), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := Reclaim(string(dir), 2, nil)
	if err != nil || d.Uncut == nil {
		t.Fatalf("%v, uncut: %v", err, d.Uncut)
	}
	d.Unlock()
}

// What was lost since the last look is shared by the steps since then by their times, and the lines keep
// their order.
func TestStepsShareWhatWasLost(t *testing.T) {
	for isPrompt, want := range map[bool][]float64{false: {1, 3, 0.5, 0}, true: {0, 4, 0.5, 0}} {
		dir := Directory(t.TempDir())
		log, err := dir.OpenStepLog(isPrompt)
		if err != nil {
			t.Fatal(err)
		}
		add := func(step int, seconds, delayed float64, isShared bool) {
			log.Add(record.Step{Step: step, Seconds: record.Number(seconds),
				Parts: record.Parts{DelayedSeconds: delayed, PausedSeconds: delayed / 2}}, isShared)
		}
		add(0, 0.1, 0, false)
		add(1, 0.3, 4, true)
		add(2, 0.1, 0.5, true)
		add(3, 0.1, 0, false)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dir.Path(StepsFile))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := json.NewDecoder(f)
		for step, delayed := range want {
			var s record.Step
			if err := d.Decode(&s); err != nil || s.Step != step {
				t.Fatalf("step %d: %v, %v", step, s.Step, err)
			}
			if math.Abs(s.DelayedSeconds-delayed)+math.Abs(s.PausedSeconds-delayed/2) > 1e-9 {
				t.Errorf("prompt %v, step %d: %+v, want %v", isPrompt, step, s.Parts, delayed)
			}
		}
	}
}
