package launcher_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
)

// contents returns what is in a run directory: times of change and hashes of files, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = fmt.Sprintf("%v %x", info.ModTime(), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A run that has ended and is resumed with nothing to do keeps its directory as it is.
func TestResumeOfAFinishedRunChangesNothing(t *testing.T) {
	c := short(t)
	c.Epochs, c.Steps, c.CheckpointEvery, c.Save, c.Until = 0, 4, "1", false, 1
	if _, err := launcher.Run(t.Context(), c, launcher.Options{}); job.ExitCode(err) != job.ExitCheck {
		t.Fatal(err)
	}
	before := contents(t, c.Out)
	for _, flags := range [][]string{nil, {"workers", "2"}, {"steps", "4"}, {"epochs", "1"},
		{"until", "accuracy=0.001"}, {"steps", "9", "until", "accuracy=0.001"}} {
		s, notes, err := resumed(t, c.Out, flags...)
		want := job.ExitCheck // the target of the run itself
		if len(flags) > 1 && flags[len(flags)-2] == "until" {
			want = job.ExitOK
		}
		if s == nil || job.ExitCode(err) != want {
			t.Fatalf("%v: %v", flags, err)
		}
		if !s.IsUnchanged || s.Steps != 4 || s.SamplesPerSecond <= 0 || len(s.Ranks) != 1 {
			t.Errorf("%v: %+v", flags, s)
		}
		if !strings.HasPrefix(notes, "nothing to do: the run in "+c.Out+" has ended, after 4 steps;") {
			t.Errorf("%v: notes %q", flags, notes)
		}
		if after := contents(t, c.Out); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v: %v, was %v", flags, after, before)
		}
	}
	for _, flags := range [][]string{{"save", "true", "until", "accuracy=0.001"},
		{"steps", "5", "until", "accuracy=1"}} {
		if s, _, _ := resumed(t, c.Out, flags...); s == nil || s.IsUnchanged {
			t.Errorf("%v: unchanged", flags)
		}
	}
}
