package launcher_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// A run that cannot begin takes away the folders it has made, and no other.
func TestNothingStaysOfARunThatNeverBegan(t *testing.T) {
	for name, c := range map[string]struct {
		there []string // folders before the run
		out   string
		gone  string
	}{
		"new":    {nil, "a/b", "a"},
		"beside": {[]string{"a/other"}, "a/b", "a/b"},
		"there":  {[]string{"a/b"}, "a/b", "a/b/config.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range c.there {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			config := setting.Default()
			config.Workers, config.Steps = 2, 1
			config.MasterAddr = "192.0.2.1" // for documentation: no machine has it
			config.Out = filepath.Join(root, c.out)
			_, err := launcher.Run(t.Context(), config, launcher.Options{})
			if job.ExitCode(err) != job.ExitRendezvous {
				t.Fatalf("got %v, want no rendezvous", err)
			}
			if _, err := os.Stat(filepath.Join(root, c.gone)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v, want it gone", c.gone, err)
			}
			for _, dir := range c.there {
				if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
