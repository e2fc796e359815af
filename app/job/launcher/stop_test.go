package launcher_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/trace"
)

// Replicas that are asked to stop make the step at hand and save it, instead of throwing it away.
func TestStoppedRunKeepsTheStepAtHand(t *testing.T) {
	for _, link := range []string{"local", "shm"} {
		c := short(t)
		c.Model, c.Workers, c.Link, c.LimitTrain, c.Batch = "vgg11", 2, link, 640, 64
		c.Epochs, c.CheckpointEvery = 80, "1h"
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		begun := 0
		_, err = launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 1 && p.Phase == trace.Backward.String() && begun == 0 {
					begun = p.Step + 1
					cancel()
				}
			}})
		cancel()
		var stopped *job.StoppedError
		if !errors.As(err, &stopped) || stopped.Step < begun || stopped.Step > begun+1 {
			t.Errorf("%s: asked to stop in step %d: %v", link, begun, err)
		}
	}
}

// A run that is asked to stop when its last step and evaluation are done has ended, and says so.
func TestStopThatComesTooLate(t *testing.T) {
	for _, link := range []string{"local", "shm"} {
		c := short(t)
		c.Workers, c.Link, c.CheckpointEvery = 2, link, "1h"
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s, err := launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Evaluation != nil && p.Evaluation.Epochs == 2 {
					cancel()
				}
			}})
		cancel()
		if err != nil || s.Steps != 8 || s.ParameterSHA256 == "" {
			t.Errorf("%s: %+v, %v", link, s, err)
		}
	}
}

// The weights in the directory of a run that goes on are old, or are not there yet: that is said, and where
// there are newer ones.
func TestWeightsOfARunThatHasNotEnded(t *testing.T) {
	c := begun(t, 3, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	flags := map[string]string{"resume": c.Out, "steps": "4000"}
	more, origins, err := setting.Resolve(setting.Source{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	_, err = launcher.Run(ctx, more, launcher.Options{Origins: origins, Progress: func(p launcher.Progress) {
		if p.Step > 5 {
			cancel()
		}
	}})
	var stopped *job.StoppedError
	if !errors.As(err, &stopped) || stopped.Step < 6 {
		t.Fatal(err)
	}
	newest := filepath.Join(c.Out, "checkpoints", fmt.Sprintf("step-%d", stopped.Step))
	from := short(t)
	from.Weights, from.EvalOnly, from.Epochs = c.Out, true, 0
	var notes strings.Builder
	if _, err := launcher.Run(t.Context(), from, launcher.Options{Stderr: &notes}); err != nil ||
		!strings.Contains(notes.String(), "the newest are in "+newest+"\n") {
		t.Errorf("%v, notes %q", err, notes.String())
	}
	if err := os.Remove(filepath.Join(c.Out, "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	_, err = launcher.Run(t.Context(), from, launcher.Options{})
	if want := "has not ended: want --weights " + newest; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A run of one process that is asked to stop while it has nothing to save ends at once, also where no worker
// can look: here in the loading of data.
func TestAStopWithNothingToSaveDoesNotWait(t *testing.T) {
	goOn := make(chan struct{})
	defer close(goOn)
	ctx, stop := context.WithCancel(t.Context())
	own, err := data.Catalog{}.With("slow", func(context.Context, data.Options) (train, test *data.Set,
		err error) {
		stop()
		<-goOn
		return nil, nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := setting.Default()
	c.Data, c.Catalog, c.CheckpointEvery = "slow", &setting.Catalog{Data: own}, "1"
	c.Out = filepath.Join(t.TempDir(), "run")
	_, err = launcher.Run(ctx, c, launcher.Options{})
	if job.ExitCode(err) != job.ExitInterrupted {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(c.Out); err == nil {
		t.Errorf("%s is left", c.Out)
	}
}
