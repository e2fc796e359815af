//go:build unix

package command

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/job"
)

func TestEchoesAreOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to, done := make(chan os.Signal), make(chan os.Signal, 9), make(chan struct{})
		go dropEchoes(from, to, done)
		for _, s := range []struct {
			os.Signal
			after time.Duration
		}{{syscall.SIGUSR1, 0}, {syscall.SIGTERM, 0}, {syscall.SIGTERM, echoTime / 4},
			{syscall.SIGTERM, echoTime / 2}, {os.Interrupt, 0}, {os.Interrupt, tapTime / 2},
			{os.Interrupt, tapTime},
			{syscall.SIGTERM, echoTime}} {
			time.Sleep(s.after)
			from <- s.Signal
		}
		synctest.Wait()
		close(done)
		var got []os.Signal
		for len(to) > 0 {
			got = append(got, <-to)
		}
		want := []os.Signal{syscall.SIGUSR1, syscall.SIGTERM, os.Interrupt, os.Interrupt, syscall.SIGTERM}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// A scheduler's SIGTERM that comes twice leaves a checkpoint and the status of a preempted run, under launch
// too.
func TestTwiceTerminatedIsPreempted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts runs")
	}
	t.Parallel()
	begins := map[string]func(*testing.T, ...string) *running{"train": start, "launch": launchHere}
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			r := begin(t, "--checkpoint-every", "1000000")
			for range 3 {
				r.Process.Signal(syscall.SIGTERM)
				time.Sleep(20 * time.Millisecond) // two that come together are one
			}
			r.Wait() // the status is checked below
			got := r.ProcessState.ExitCode()
			if said := r.stderr.String(); got != job.ExitPreempted || !strings.Contains(said, "is saved") {
				t.Errorf("status %d, want %d; %s", got, job.ExitPreempted, said)
			}
		})
	}
}
