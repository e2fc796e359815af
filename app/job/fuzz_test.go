package job

import (
	"io"
	"os"
	"testing"

	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// FuzzNotice decodes what a worker's process tells its launcher.
func FuzzNotice(f *testing.F) {
	f.Add([]byte(`{"evaluation":{"steps":1,"loss":0.5}}`), 0)
	f.Add([]byte(`{"part":{"name":"steps-1.jsonl","text":"e30K"}}`), 1)
	f.Add([]byte(`{"data":{"train":"a","test":"b"}}`), 1)
	f.Add([]byte(`{"lost":null,"bucket":{},"server":{"rank":-1}}`), 2)
	f.Fuzz(func(t *testing.T, text []byte, rank int) {
		heard := newHeard(setting.Config{}, nil, Options{Stderr: io.Discard})
		_ = heard.decode(rank, text) // refused or taken: it does not panic
	})
}

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
		_ = resumeCommand(dir)
	})
}
