package command

import (
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
)

// Only who pressed Ctrl-C is told to press it again.
func TestTerminationDoesNotSpeakOfCtrlC(t *testing.T) {
	if got := stopping(nil); !strings.Contains(got, "Ctrl-C again") {
		t.Errorf("after Ctrl-C: %q", got)
	}
	if got := stopping(launcher.ErrTerminated); strings.Contains(got, "Ctrl-C") {
		t.Errorf("after SIGTERM: %q", got)
	}
}

func TestReportOfAMissingFolder(t *testing.T) {
	status, _, stderr := execute("report", filepath.Join(t.TempDir(), "none"))
	const want = "none/results.json: no such file or directory; give the folder of a benchmark or of a " +
		"training run"
	if status != 2 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q", status, stderr)
	}
}
