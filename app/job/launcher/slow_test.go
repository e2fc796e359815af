package launcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/data"
)

// A slowed worker, or one that waits or gets its data late, computes the same bits, only later, and the
// summary says why.
func TestASlowedWorkerChangesNoResult(t *testing.T) {
	c := short(t)
	c.Workers, c.Link, c.LimitTest = 2, "local", 0
	want := run(t, c, launcher.Options{})
	c.Out = t.TempDir() + "/run"
	const wait, late = 5 * time.Millisecond, 30 * time.Millisecond
	c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Pace: data.Pace{Factor: 4}, From: 1},
		{Rank: 1, Pace: data.Pace{Delay: wait}}}
	c.SlowLoader.Delay = late
	s := run(t, c, launcher.Options{})
	if s.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
	}
	cautions := strings.Join(s.Cautions, "\n")
	if s.SlowWorkers != "1:4@1,1:5ms" || !strings.Contains(cautions, "--slow-worker 1:4@1,1:5ms") {
		t.Errorf("slow workers %q, cautions %q", s.SlowWorkers, s.Cautions)
	}
	if s.SlowLoader != "30ms" || !strings.Contains(cautions, "--slow-loader 30ms") {
		t.Errorf("slow loader %q, cautions %q", s.SlowLoader, s.Cautions)
	}
	if took, least := s.Ranks[1].Phases.Forward, float64(s.Steps)*wait.Seconds(); took < least {
		t.Errorf("%d forward passes took %v s, want at least %v", s.Steps, took, least)
	}
	least := float64(s.Steps) * late.Seconds()
	if s.TrainSeconds < least || s.Ranks[0].Phases.Data < least/3 {
		t.Errorf("%d steps took %v s, of which data %v; want at least %v", s.Steps, s.TrainSeconds,
			s.Ranks[0].Phases.Data, least)
	}
	for rank, want := range []bool{false, true} {
		text, err := os.ReadFile(filepath.Join(c.Out, fmt.Sprintf("rank%d.log", rank)))
		if got := strings.Contains(string(text), "from step 0 on: 5ms of waiting") &&
			strings.Contains(string(text), "from step 1 on: computation slowed 4 times"); got != want {
			t.Errorf("rank %d was slowed: %v, %v", rank, got, err)
		}
	}
}
