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
	c.Workers, c.Link, c.LimitTest, c.Epochs = 2, "local", 0, 1
	want := run(t, c, launcher.Options{})
	c.Out = t.TempDir() + "/run"
	const wait, late = 5 * time.Millisecond, 200 * time.Millisecond
	c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Pace: data.Pace{Factor: 4}},
		{Rank: 1, Pace: data.Pace{Delay: wait}}}
	c.SlowLoader.Delay = late
	s := run(t, c, launcher.Options{})
	if s.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
	}
	cautions := strings.Join(s.Cautions, "\n")
	const slow = "1:4,1:5ms"
	if s.SlowWorkers != slow || !strings.Contains(cautions, "--slow-worker "+slow) {
		t.Errorf("slow workers %q, cautions %q", s.SlowWorkers, s.Cautions)
	}
	if s.SlowLoader != "200ms" || !strings.Contains(cautions, "--slow-loader 200ms") {
		t.Errorf("slow loader %q, cautions %q", s.SlowLoader, s.Cautions)
	}
	if took, least := s.Ranks[1].Phases.Forward, float64(s.Steps)*wait.Seconds(); took < least {
		t.Errorf("%d forward passes took %v s, want at least %v", s.Steps, took, least)
	}
	// Three steps may be ready when training begins; those after them are prepared one after another. How
	// much of that is waited for depends on what else the machine does; a quarter of one step is little.
	least := float64(s.Steps-3) * late.Seconds()
	if took := s.Ranks[0].Phases.Data; s.TrainSeconds < least || took < late.Seconds()/4 {
		t.Errorf("%d steps took %v s, of which data %v; want at least %v, of which a quarter of %v", s.Steps,
			s.TrainSeconds, took, least, late)
	}
	for rank, want := range []bool{false, true} {
		text, err := os.ReadFile(filepath.Join(c.Out, fmt.Sprintf("rank%d.log", rank)))
		if got := strings.Contains(string(text), "5ms of waiting before") &&
			strings.Contains(string(text), "computation slowed 4 times"); got != want {
			t.Errorf("rank %d was slowed: %v, %v", rank, got, err)
		}
	}
}
