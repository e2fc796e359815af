package launcher_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
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
	rate := s.SamplesPerSecond * s.Trained() / float64(s.Samples) // 1, but for the last bit of a time
	if s.Steps != 3 || s.Samples != 3*43 || len(s.Evaluations) != 1 || s.Loss.First <= s.Loss.Last ||
		s.BytesSent == 0 || s.Seconds <= 0 || math.Abs(rate-1) > 1e-12 {
		t.Errorf("%+v", s)
	}
	if _, err := job.Unfinished(t.TempDir()); err == nil {
		t.Error("no error of an empty folder")
	}
}

// A run that ended early says how, and one whose process was killed could not.
func TestUnfinishedRunTellsHowItEnded(t *testing.T) {
	c := short(t)
	c.Epochs = 80
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := launcher.Run(ctx, c, launcher.Options{Progress: func(p launcher.Progress) {
		if p.Evaluation != nil {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("the run has ended")
	}
	killed := begun(t, 3, nil).Out
	if err := os.Remove(filepath.Join(killed, "summary.json")); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{c.Out: "the run ended with: context canceled",
		killed: "the run ended without a word: its process was killed, perhaps by the system"} {
		s, err := job.Unfinished(folder)
		if err != nil || !strings.HasPrefix(s.Standing.Cause, want) {
			t.Errorf("%v, %+v, want %s", err, s.Standing, want)
		}
		if _, err := rundir.Claim(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("claimed again: %v, want %s", err, want)
		}
	}
	const want = "holds no checkpoint; --resume wants the directory of a run that had --checkpoint-every"
	for _, folder := range []string{c.Out, killed} {
		kept := filepath.Join(folder, "checkpoints")
		moved := os.Rename(kept, kept+"-away")
		if _, _, err := resumed(t, folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without a checkpoint: %v, want %s", err, want)
		}
		if moved == nil {
			moved = os.Rename(kept+"-away", kept)
		}
		if folder == killed && moved != nil {
			t.Fatal(moved)
		}
	}
	_, said, err := resumed(t, killed, "steps", "4")
	if err != nil || !strings.Contains(said, "note: the run ended without a word") {
		t.Errorf("resumed: %v, %s", err, said)
	}
	if s, err := job.Unfinished(killed); err != nil || s.Standing.Cause != "" {
		t.Errorf("ended: %v, %+v", err, s.Standing)
	}
}

// A run that ends early without a checkpoint is known by its evaluations too; one that is resumed takes over
// those up to its checkpoint.
func TestUnfinishedRunIsKnownByItsEvaluations(t *testing.T) {
	c := short(t)
	c.Epochs, c.Workers, c.Link = 80, 2, "local"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var shown []record.Evaluation
	_, err := launcher.Run(ctx, c, launcher.Options{Progress: func(p launcher.Progress) {
		if p.Evaluation != nil {
			if shown = append(shown, *p.Evaluation); len(shown) == 2 {
				cancel()
			}
		}
	}})
	if err == nil {
		t.Fatal("the run has ended")
	}
	s, err := job.Unfinished(c.Out)
	if err != nil || len(shown) < 2 || !reflect.DeepEqual(s.Evaluations, shown) {
		t.Fatalf("%v, %+v, want %+v", err, s.Evaluations, shown)
	}
	took := 0.0
	for _, e := range shown {
		took += e.Seconds
	}
	if s.TestSamples != 30 || took == 0 || math.Abs(s.Phases.Evaluation-took) > 1e-9 {
		t.Errorf("%d test samples, %v s of evaluations, want %v", s.TestSamples, s.Phases.Evaluation, took)
	}

	c = begun(t, 5, nil)
	dir := rundir.Directory(c.Out)
	all, err := dir.Evaluations()
	if err != nil || len(all) == 0 || all[0].Steps != 4 {
		t.Fatalf("%v, %+v", err, all)
	}
	file := dir.Path(rundir.EvaluationsFile)
	text, err := os.ReadFile(file)
	if err == nil { // killed after the next evaluation, while the one after it was written
		text = append(text, `{"rank":0,"steps":7,"accuracy":0.99}`+"\n"+`{"rank":0,"ste`...)
		err = errors.Join(os.WriteFile(file, text, 0o644), os.Remove(dir.Path(rundir.SummaryFile)))
	}
	if err != nil {
		t.Fatal(err)
	}
	if s, err = job.Unfinished(c.Out); err != nil || len(s.Evaluations) != len(all)+1 {
		t.Errorf("%v, %+v", err, s)
	}
	if s, _, err = resumed(t, c.Out, "steps", "8"); err != nil {
		t.Fatal(err)
	}
	now, err := dir.Evaluations()
	isCut := func(e record.Evaluation) bool { return e.Steps == 7 }
	if err != nil || !reflect.DeepEqual(now, s.Evaluations) || !reflect.DeepEqual(now[0], all[0]) ||
		now[len(now)-1].Steps != 8 ||
		slices.ContainsFunc(now, isCut) {
		t.Errorf("%v, %+v, were %+v", err, now, all)
	}
}

// A run whose evaluations cannot be written goes on, and says so once.
func TestEvaluationsThatCannotBeWritten(t *testing.T) {
	c := short(t)
	c.Epochs = 3
	made := false
	s := run(t, c, launcher.Options{Progress: func(p launcher.Progress) {
		if !made {
			made = os.Mkdir(filepath.Join(c.Out, rundir.EvaluationsFile), 0o755) == nil
		}
	}})
	if !made || len(s.Lost) != 1 || s.Lost[0].File != rundir.EvaluationsFile || len(s.Evaluations) != 3 {
		t.Errorf("made %v, lost %v, %+v", made, s.Lost, s.Evaluations)
	}
}

// Each step of asynchronous workers is one of them's, and all count. (Losses are those of the first and the
// last batch here, and of the first and the last update at the end of a run.)
func TestUnfinishedRunOfAsynchronousWorkers(t *testing.T) {
	want := run(t, stale(t, 2, 1, "workers", "local"), launcher.Options{})
	s, err := job.Unfinished(want.Directory)
	if err != nil {
		t.Fatal(err)
	}
	if s.Steps != want.Steps || s.Samples != want.Samples ||
		s.Epochs != want.Epochs || *s.TestAccuracy != *want.TestAccuracy || s.StepMS.Median == 0 {
		t.Errorf("%d steps, %d samples, %v epochs, want %d, %d, %v", s.Steps, s.Samples, s.Epochs,
			want.Steps, want.Samples, want.Epochs)
	}
	if s.Standing.IsGoingOn {
		t.Error("an ended run goes on")
	}
}

// A run that was lost before its first checkpoint is started again from its beginning, in its directory, and
// ends with the parameters of one that was not lost.
func TestARunWithoutACheckpointBeginsAgain(t *testing.T) {
	c := short(t)
	c.Epochs, c.Steps, c.CheckpointEvery = 0, 3, "1"
	want := run(t, c, launcher.Options{}).ParameterSHA256
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
	again := launcher.Options{Environment: cluster.Environment{cluster.EnvRestarts: "[]"}}
	if got := run(t, c, again).ParameterSHA256; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	for step, n := range numSteps(t, c.Out) {
		if n != 1 {
			t.Errorf("step %d is there %d times", step, n)
		}
	}
}
