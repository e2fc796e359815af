package job

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// A full disk is no fault of the program, whichever file it is found by.
func TestFullDiskHasItsExitStatus(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		err := fmt.Errorf("write config.yaml: %w", &fs.PathError{Op: "write", Path: "x", Err: full})
		if got := ExitCode(err); got != ExitCheckpoint {
			t.Errorf("%v: exit %d, want %d", err, got, ExitCheckpoint)
		}
	}
}
