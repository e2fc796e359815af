package job_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
)

// A configuration file is taken or refused by name and line, whatever it holds.
func FuzzConfigFile(f *testing.F) {
	f.Add([]byte("batch: 32\nmodel: \"vgg11\" # comment\nlimit-train: all\n"))
	file := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := job.Resolve(job.Source{File: file})
		var usage *job.UsageError
		if err != nil && (!errors.As(err, &usage) || strings.TrimSpace(err.Error()) == "") {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
