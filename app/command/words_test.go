package command

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestReportOfAMissingFolder(t *testing.T) {
	status, _, stderr := execute("report", filepath.Join(t.TempDir(), "none"))
	const want = "none/results.json: no such file or directory; give the folder of a benchmark or of a " +
		"training run"
	if status != 2 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q", status, stderr)
	}
}
