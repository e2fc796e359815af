package job_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/cluster"
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
	want := "lockstep train --resume " + c.Out
	if at := s.Standing; at.Planned != "3 steps" || at.Step != 3 || at.Resume != want {
		t.Errorf("standing %+v", at)
	}
	if s.Steps != 3 || s.Samples != 3*43 || len(s.Evaluations) != 1 || s.Loss.First <= s.Loss.Last ||
		s.BytesSent == 0 || s.Seconds <= 0 || s.SamplesPerSecond != float64(s.Samples)/s.Seconds {
		t.Errorf("%+v", s)
	}
	if _, err := job.Unfinished(t.TempDir()); err == nil {
		t.Error("no error of an empty folder")
	}
}

// A run that was lost before its first checkpoint is started again from its beginning, in its directory, and
// ends with the parameters of one that was not lost.
func TestARunWithoutACheckpointBeginsAgain(t *testing.T) {
	c := short(t)
	c.Epochs, c.Steps, c.CheckpointEvery = 0, 3, "1"
	want := run(t, c, job.Options{}).ParameterSHA256
	for _, name := range []string{"checkpoints", "summary.json", "model.safetensors"} {
		if err := os.RemoveAll(filepath.Join(c.Out, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := job.Stand(c.Out)
	if err != nil || s.Checkpoint != "" || s.Step != 0 || s.Done != 3 || s.Written.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	if cost := s.Restart("lost", s.Written.Add(time.Second)); cost.Redone != 3 || cost.Seconds != 1 {
		t.Errorf("%+v", cost)
	}
	s, err = job.Stand(filepath.Join(c.Out, "nowhere"))
	if err != nil || s.Restart("", time.Now()).Seconds != 0 {
		t.Errorf("nothing was written: %+v, %v", s, err)
	}
	again := job.Options{Environment: cluster.Environment{cluster.EnvRestarts: "[]"}}
	if got := run(t, c, again).ParameterSHA256; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	for step, n := range numSteps(t, c.Out) {
		if n != 1 {
			t.Errorf("step %d is there %d times", step, n)
		}
	}
}
