package job

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/train"
)

// What an evaluation takes belongs to no step: the line of the step after it holds the processor time of
// the time that it holds.
func TestUsageLeavesOutEvaluations(t *testing.T) {
	dir := rundir.Directory(t.TempDir())
	w := &worker{dir: dir, log: io.Discard, tell: func(notice) {}, meter: host.NewMeter(),
		beacon: newBeacon()}
	w.beacon.begin(0, 2, 0)
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
	w.Evaluation(train.Evaluation{Steps: 1, Samples: 1, Time: evaluated})
	step.Number = 1
	w.Step(step)
	trained := w.beacon.read().Trained
	total := time.Since(w.beacon.began).Seconds()
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

// Seconds, those of training and the speed are of one worker: rank 0, which may evaluate alone, or the
// slowest of workers on their own.
func TestTimesAreOfOneClock(t *testing.T) {
	worker := func(rank int, seconds, evaluation float64) workerResult {
		return workerResult{RankStat: record.RankStat{Rank: rank, Samples: 400, Seconds: seconds,
			Phases: record.Phases{Evaluation: evaluation}},
			Summary: record.Summary{TrainSeconds: seconds - evaluation}}
	}
	results := []workerResult{worker(0, 10, 6), worker(1, 11, 1)}
	for strategy, want := range map[string][2]float64{"ps-async": {10, 4}, "ddp": {10, 4}, "none": {11, 10}} {
		s, err := summarize(setting.Config{Workers: 2, Strategy: strategy}, "", nil, results, &heard{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Seconds != want[0] || s.TrainSeconds != want[1] || s.SamplesPerSecond != 800/want[1] {
			t.Errorf("%s: %v s, %v of training, %v samples/s; want %v and 800 samples in the latter",
				strategy, s.Seconds, s.TrainSeconds, s.SamplesPerSecond, want)
		}
	}
}

// The planned memory is that of the start, also after a worker was lost.
func TestPlanOfARunThatLostAWorker(t *testing.T) {
	worker := workerResult{RankStat: record.RankStat{PlannedBytes: 30},
		Summary: record.Summary{PlannedBytes: 100}}
	s, err := summarize(setting.Config{Workers: 3, Strategy: "ps-async"}, "", nil,
		[]workerResult{worker, worker}, &heard{servers: []record.ServerStat{{Rank: 3, PlannedBytes: 10}}})
	if err != nil || s.PlannedBytes != 100 {
		t.Errorf("%v: %d bytes planned, the run had planned 100 for three workers", err, s.PlannedBytes)
	}
}

// Rates are over training without evaluations, samples as well as operations.
func TestRatesLeaveOutEvaluations(t *testing.T) {
	result := workerResult{RankStat: record.RankStat{Samples: 800, Seconds: 10, FLOPs: 2e9, PeakFLOPs: 1e9,
		Phases: record.Phases{Forward: 1, Backward: 1, Evaluation: 8}}}
	s, err := summarize(setting.Config{Workers: 1}, "", nil, []workerResult{result}, &heard{coreShare: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if s.SamplesPerSecond != 400 || s.Work.Rate != 1e9 {
		t.Errorf("%v samples/s, %v operations/s, want 400 and 1e9", s.SamplesPerSecond, s.Work.Rate)
	}
	if s.Work.Peak != 5e8 {
		t.Errorf("a peak of %v operations/s for a thread with half a core, want 5e8", s.Work.Peak)
	}
	result.Phases.Evaluation, result.Seconds, result.Samples = 0, 0, 0
	s, err = summarize(setting.Config{Workers: 1}, "", nil, []workerResult{result}, &heard{})
	if err != nil || s.SamplesPerSecond != 0 {
		t.Errorf("%v samples/s of nothing", s.SamplesPerSecond)
	}
}
