package report_test

import (
	"bytes"
	"slices"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

// A page of many long runs, such as that of r4, stays one that is sent by mail; results.json has every step.
func TestSizeOfAPage(t *testing.T) {
	r := sample()
	r.Rounds, r.Rows = 6, r.Rows[:6]
	position := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Setting.Steps = 1200
		short := row.Runs
		row.Runs = nil
		for round := range r.Rounds {
			run := lengthened(short[round%len(short)], 20)
			run.Round, run.Position = round, position
			position++
			row.Runs = append(row.Runs, run)
		}
	}
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 700_000 {
		t.Errorf("a page of 36 runs with 1200 steps each has %d bytes", page.Len())
	}
	const cut = "Round 6, 1200 steps, ms: the first 1111; results.json has all"
	if !bytes.Contains(page.Bytes(), []byte(cut)) {
		t.Error("it does not say that results.json has the other steps")
	}
}

// lengthened returns a run with its steps so many times.
func lengthened(run record.Run, times int) record.Run {
	run.Steps, run.Samples, run.Seconds = run.Steps*times, run.Samples*int64(times),
		run.Seconds*float64(times)
	run.EpochSeconds = nil
	run.Ranks = slices.Clone(run.Ranks)
	for i := range run.Ranks {
		s := run.Ranks[i].Steps
		s.Epoch, s.Samples = slices.Repeat(s.Epoch, times), slices.Repeat(s.Samples, times)
		s.Loss, s.OwnLoss = slices.Repeat(s.Loss, times), slices.Repeat(s.OwnLoss, times)
		s.Seconds = slices.Repeat(s.Seconds, times)
		phases := map[string]record.Numbers{}
		for name, values := range s.Phases {
			phases[name] = slices.Repeat(values, times)
		}
		s.Phases = phases
		run.Ranks[i].Steps = s
	}
	return run
}
