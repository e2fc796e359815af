package worker

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/train"
)

// What an evaluation takes belongs to no step: the line of the step after it holds the processor time of
// the time that it holds. Delays of steps before it are not told, so those after it do not stand for them.
func TestUsageLeavesOutEvaluations(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	w := &Worker{logs: logs{meter: host.NewMeter()},
		Seat: job.Seat{Dir: dir, Log: io.Discard, Tell: func(job.Notice) {}, Beacon: job.NewBeacon()}}
	w.Beacon.Begin(0, 2, 0)
	if err := w.openLogs(); err != nil {
		t.Fatal(err)
	}
	step := train.Step{Time: time.Millisecond, Samples: 8}
	work := func(d time.Duration) {
		for m, took := host.NewMeter(), time.Duration(0); took < d; {
			took += m.Step(time.Now(), 0, 0).CPU
		}
	}
	work(30 * time.Millisecond)
	w.Step(step)
	tested := time.Now()
	work(300 * time.Millisecond)
	evaluated := time.Since(tested)
	w.parts(host.Usage{}, time.Second)
	w.Evaluation(train.Evaluation{Steps: 1, Samples: 1, Time: evaluated})
	lost := host.Lost{Delayed: time.Second, Exchange: time.Millisecond}
	if p := w.parts(host.Usage{Lost: &lost}, time.Millisecond); p.ExchangeDelayedSeconds > 0.0011 {
		t.Errorf("%v s without a core in an exchange of 1 ms", p.ExchangeDelayedSeconds)
	}
	step.Number = 1
	w.Step(step)
	trained := w.Beacon.Read().Trained
	total := time.Since(w.Beacon.Began).Seconds()
	if trained <= 0 || trained > total-evaluated.Seconds() {
		t.Errorf("%v s of training in %v s, of which %v are an evaluation", trained, total, evaluated)
	}
	w.steps.Close()
	w.events.close()
	for i, u := range usages(t, dir.Path(rundir.StepsFile)) {
		if u.CPU < 0.03 && i == 0 || u.CPU > 0.15 || u.Wall <= 0 || u.CPU > u.Wall+0.05 {
			t.Errorf("step %d: %v s of processor time in %v s", i, u.CPU, u.Wall)
		}
	}
}

// usageLine is what a line of steps.jsonl says about processor time.
type usageLine struct {
	CPU  float64 `json:"cpu_seconds"`
	Wall float64 `json:"usage_seconds"`
}

func usages(t *testing.T, path string) (lines []usageLine) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l usageLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2", len(lines))
	}
	return lines
}
