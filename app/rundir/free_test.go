package rundir_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/rundir"
)

// Two runs of one second get folders of their own.
func TestFree(t *testing.T) {
	t.Chdir(t.TempDir())
	now := time.Date(2026, 11, 25, 21, 29, 14, 0, time.UTC)
	for _, want := range []string{"20261125-212914-kernels", "20261125-212914-kernels-2",
		"20261125-212914-kernels-3"} {
		got := rundir.Free("kernels", now)
		if got != filepath.Join("runs", want) {
			t.Errorf("%s, want %s", got, want)
		}
		if err := os.MkdirAll(got, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}
