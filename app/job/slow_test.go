package job_test

import (
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/setting"
)

// A slowed worker computes the same bits, only later, and the summary says that it was slowed.
func TestASlowedWorkerChangesNoResult(t *testing.T) {
	c := short(t)
	c.Workers, c.Link, c.LimitTest = 2, "local", 0
	want := run(t, c, job.Options{})
	c.Out = t.TempDir() + "/run"
	c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Factor: 4, From: 1}}
	s := run(t, c, job.Options{})
	if s.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
	}
	if s.SlowWorkers != "1:4@1" || len(s.Cautions) != 1 ||
		!strings.Contains(s.Cautions[0], "--slow-worker 1:4@1") {
		t.Errorf("slow workers %q, cautions %q", s.SlowWorkers, s.Cautions)
	}
	busy := func(rank int) float64 { p := s.Ranks[rank].Phases; return p.Forward + p.Backward }
	if busy(1) < 1.3*busy(0) {
		t.Errorf("%.4f s of computation on the slowed worker, %.4f on the other", busy(1), busy(0))
	}
}
