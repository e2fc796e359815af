package worker

import (
	"testing"

	"lockstep/app/job"
)

func TestSpaceErrorSaysWhatIsMissing(t *testing.T) {
	if err := spaceError("run/checkpoints", 3<<20, 3<<20); err != nil {
		t.Errorf("enough: %v", err)
	}
	err := spaceError("run/checkpoints", 3<<20, 1<<20)
	want := "checkpoint: write run/checkpoints: 2 checkpoints and one in progress take 3.00 MiB, the disk " +
		"has 1.00 MiB: 2.00 MiB are missing; make room, or leave out --checkpoint-every"
	if err == nil || err.Error() != want || job.ExitCode(err) != job.ExitCheckpoint {
		t.Errorf("got %v (exit %d), want %s", err, job.ExitCode(err), want)
	}
}
