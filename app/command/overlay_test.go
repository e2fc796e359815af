package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
)

// The report of two copies of one run finds equal work, and stands before check.
func TestOverlayOfCopies(t *testing.T) {
	folder := trained(t)
	other := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(other, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if status, _, stderr := execute("report", folder, other, "--out", out); status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	text, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.Contains(s, "Equal work.") {
		t.Errorf("%.600s", s)
	}
	if status, stdout, _ := execute("check", filepath.Join(out, "report.md")); status != job.ExitOK {
		t.Errorf("check: status %d, %.600s", status, stdout)
	}
}
