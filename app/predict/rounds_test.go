package predict_test

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/predict"
	"lockstep/app/report"
)

// Strategies whose workers do not meet in every step are predicted with their exchange, bend no calibration,
// and are verified by the mean step of whole rounds.
func TestRoundsAreVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second or two")
	}
	const every = 7
	c := asked([]int{2}, "diloco:average-every=7", "ps-async")
	c.Budget, c.Folder = 10*time.Minute, filepath.Join(t.TempDir(), "calibration")
	o := bench.Options{Execute: here, Probe: probe}
	p, err := predict.Make(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.MadeFrom.Fits) != 2 || !(p.Rows[0].Terms["exposed"] > 0) {
		t.Errorf("%d fits, want 2; %+v", len(p.MadeFrom.Fits), p.Rows[0])
	}
	folder := filepath.Join(t.TempDir(), "runs")
	all, err := predict.Verify(t.Context(), p, predict.Verification{Repeats: 1, Folder: folder}, o)
	if err != nil || all[0].Error != "" {
		t.Fatalf("%+v, %v", all, err)
	}
	results, err := report.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range results.Rows {
		run := row.Runs[0]
		steps := float64(run.Samples) / float64(row.Setting.Batch)
		want := 1e3 * run.TrainSeconds / steps
		if i == 0 && int(steps)%every != 0 || math.Abs(all[i].StepMS/want-1) > 1e-9 {
			t.Errorf("%s: %g steps, measured %g ms, want %g", all[i].Row, steps, all[i].StepMS, want)
		}
		t.Logf("%s: predicted %+v, measured %g ms", all[i].Row, all[i].Step, all[i].StepMS)
	}
	c.Strategies = []string{"diloco:average-every=100000"}
	if err := c.Validate(); !isRefused(err) {
		t.Errorf("endless rounds: %v", err)
	}
}

// A calibration takes its budget, however long its runs start.
func TestACalibrationKeepsItsBudget(t *testing.T) {
	c := asked([]int{2, 4}, "ddp")
	c.Budget = time.Minute
	for start, least := range map[time.Duration]int{600 * time.Millisecond: 10, 2 * time.Second: 4} {
		plan := predict.PlanOf(c, 0.1, start)
		p, err := bench.Expand(plan)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, r := range p.Rows {
			sum += float64(plan.Repeats) * (start.Seconds() + 0.2*float64(r.Steps)/float64(r.Workers))
		}
		if r := p.Rows[0]; sum > 1.1*60 || sum < 0.7*60 || r.Steps < least || plan.Repeats < 2 {
			t.Errorf("start %v: %.1f s, %d rounds of %d steps", start, sum, plan.Repeats, r.Steps)
		}
	}
}
