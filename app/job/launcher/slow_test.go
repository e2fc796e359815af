package launcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// A slowed worker computes the same bits, only later, and the summary says that it was slowed.
func TestASlowedWorkerChangesNoResult(t *testing.T) {
	c := short(t)
	c.Workers, c.Link, c.LimitTest = 2, "local", 0
	want := run(t, c, launcher.Options{})
	c.Out = t.TempDir() + "/run"
	c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Factor: 4, From: 1}}
	s := run(t, c, launcher.Options{})
	if s.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
	}
	if s.SlowWorkers != "1:4@1" || !strings.Contains(strings.Join(s.Cautions, "\n"), "--slow-worker 1:4@1") {
		t.Errorf("slow workers %q, cautions %q", s.SlowWorkers, s.Cautions)
	}
	for rank, want := range []bool{false, true} {
		text, err := os.ReadFile(filepath.Join(c.Out, fmt.Sprintf("rank%d.log", rank)))
		if got := strings.Contains(string(text), "from step 1 on: computation slowed 4 times"); got != want {
			t.Errorf("rank %d was slowed: %v, %v", rank, got, err)
		}
	}
}
