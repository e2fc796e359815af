package job_test

import (
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/job"
	"lockstep/app/setting"
)

// A run that ended early is known by its steps; a line that was not written whole does not count.
func TestUnfinishedRunIsKnownByItsSteps(t *testing.T) {
	c := begun(t, 3, func(c *setting.Config) { c.Workers, c.Link = 2, "local" })
	steps := filepath.Join(c.Out, "steps.jsonl")
	text, err := os.ReadFile(steps)
	if err == nil {
		err = os.WriteFile(steps, append(text, `{"rank":0,"step":3,"lo`...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := job.Unfinished(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if s.Model != "lenet" || s.Workers != 2 || s.Batch != 43 || s.Shards != 4 || !s.IsInterrupted {
		t.Errorf("settings %+v", s)
	}
	if s.Steps != 3 || s.Samples != 3*43 || len(s.Evaluations) != 1 || s.Loss.First <= s.Loss.Last ||
		s.BytesSent == 0 || s.Seconds <= 0 || s.SamplesPerSecond != float64(s.Samples)/s.Seconds {
		t.Errorf("%+v", s)
	}
	if _, err := job.Unfinished(t.TempDir()); err == nil {
		t.Error("no error of an empty folder")
	}
}
