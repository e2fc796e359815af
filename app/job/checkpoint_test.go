package job

import (
	"testing"
	"time"
)

func TestSpaceErrorSaysWhatIsMissing(t *testing.T) {
	if err := spaceError("run/checkpoints", 3<<20, 3<<20); err != nil {
		t.Errorf("enough: %v", err)
	}
	err := spaceError("run/checkpoints", 3<<20, 1<<20)
	want := "checkpoint: write run/checkpoints: 2 checkpoints and one in progress take 3.0 MiB, the disk " +
		"has 1.0 MiB: 2.0 MiB are missing; make room, or leave out --checkpoint-every"
	if err == nil || err.Error() != want || ExitCode(err) != ExitCheckpoint {
		t.Errorf("got %v (exit %d), want %s", err, ExitCode(err), want)
	}
}

func TestParseInterval(t *testing.T) {
	for text, want := range map[string]interval{
		"": {}, "100": {steps: 100}, "5m": {time: 5 * time.Minute}, "1h30m": {time: 90 * time.Minute},
	} {
		if got, err := parseInterval(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "x", "0s", "-5m", "1.5"} {
		if got, err := parseInterval(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
