package launcher_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

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
		c.Workers, c.Link, c.Epochs, c.CheckpointEvery = 2, link, 80, "1h"
		long := data.Pace{Delay: 300 * time.Millisecond} // a step, to be asked to stop in
		c.SlowWorkers = setting.SlowWorkers{{Rank: 0, Pace: long}, {Rank: 1, Pace: long}}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		begun := 0
		_, err = launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 1 && p.Phase == trace.Forward.String() && begun == 0 {
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
