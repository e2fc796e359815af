//go:build unix

package command

import (
	"os/signal"
	"syscall"
	"testing"
)

// Ctrl-Z does not stop a console, whose hosts would end the job.
func TestCtrlZDoesNothingToAConsole(t *testing.T) {
	defer signal.Reset(syscall.SIGTSTP)
	if ignoreStop(); !signal.Ignored(syscall.SIGTSTP) {
		t.Error("Ctrl-Z stops it")
	}
}
