package job

import (
	"os"
	"testing"

	"lockstep/app/rundir"
)

// FuzzHostFile reads the description of a run's machine, and words how the run goes on.
func FuzzHostFile(f *testing.F) {
	f.Add([]byte(`{"lab":"--hosts 2","preflight":{"hosts":[{"host":"a","slots":2}]}}`))
	f.Add([]byte(`{"started":"2026-01-01T00:00:00Z","preflight":{"routes":[{"from":3}]}}`))
	f.Add([]byte(`[]`))
	dir := rundir.Directory(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(dir.Path(rundir.HostFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = ResumeCommand(dir)
	})
}
