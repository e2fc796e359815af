package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/rundir"
)

// bundled packs the results that a change makes of some of ours, as a stranger does: lockstep bundle refuses
// to.
func bundled(t *testing.T, from, to string) string {
	t.Helper()
	text, folder := sealedResults(t), t.TempDir()
	if !strings.Contains(text, from) {
		t.Fatal(from)
	}
	text = strings.Replace(text, from, to, 1)
	if err := os.WriteFile(filepath.Join(folder, "results.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return packUnseen(t, folder, bundle.Bench)
}

// packUnseen packs a folder without looking at what is in it.
func packUnseen(t *testing.T, folder, kind string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	m, err := bundle.Scan(folder, bundle.Manifest{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := bundle.Write(f, folder, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// Changed results are not run again.
func TestRefusedBundle(t *testing.T) {
	path := bundled(t, `"samples":10240`, `"samples":5120`)
	status, _, stderr := execute("replay", path, "--out", filepath.Join(t.TempDir(), "out"))
	if status != job.ExitCheck || !strings.Contains(stderr, "results.json was changed after it was written") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// A training run that somebody changed is not run again from a bundle that somebody else's program made.
func TestReplayOfAChangedTraining(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.SummaryFile)
	now := regexp.MustCompile(`"test_accuracy": [0-9.]+`).ReplaceAll(text, []byte(`"test_accuracy": 0.99`))
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
	packed := packUnseen(t, folder, bundle.Training)
	status, _, stderr := execute("replay", packed, "--out", filepath.Join(t.TempDir(), "out"))
	if status != job.ExitCheck || !strings.Contains(stderr, "has a seal that is not that of what it holds") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// Errors about what a stranger wrote move no terminal's cursor.
func TestErrorsArePlain(t *testing.T) {
	path := bundled(t, `"model":"vgg11"`, `"model":"\u001b[31m\u202e"`)
	status, _, stderr := execute("replay", path, "--out", filepath.Join(t.TempDir(), "out"))
	if status != job.ExitCheck || strings.ContainsAny(stderr, "\x1b\u202e") {
		t.Errorf("replay: status %d, %q", status, stderr)
	}
	for _, args := range [][]string{{"report", "none\x1b[31m"}, {"check", "none\x1b[31m"},
		{"bench", "--models", "\x1b[31m"}, {"bench", "--budget", "\x1b[31m"}} {
		if status, _, stderr := execute(args...); status != job.ExitUsage ||
			strings.Contains(stderr, "\x1b") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
}

// What is no file that can be replayed is refused with what to give instead.
func TestReplayOfNoFile(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, os.DevNull, folder + "/no"} {
		status, _, stderr := execute("replay", path)
		if status != job.ExitUsage || !strings.Contains(stderr, "; give a file that lockstep bundle wrote") {
			t.Errorf("%s: status %d, %q", path, status, stderr)
		}
	}
}
