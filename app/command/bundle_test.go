package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
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

// A bundle that is refused leaves no folder, and errors name it, not the folder that it was taken out into.
func TestRefusedBundle(t *testing.T) {
	path := bundled(t, `"samples":10240`, `"samples":5120`)
	out := filepath.Join(t.TempDir(), "out")
	if status, _, stderr := execute("report", path, "--out", out); status != job.ExitCheck {
		t.Errorf("report: status %d, %q", status, stderr)
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("report: its folder was left")
	}
	status, _, stderr := execute("replay", path, "--out", out)
	want := "lockstep: " + filepath.Join(path, "results.json") + " was changed after it was written"
	if status != job.ExitCheck || !strings.HasPrefix(stderr, want) {
		t.Errorf("replay: status %d, %q, want %q", status, stderr, want)
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

// Places that nothing can be written to are errors of the command line.
func TestPlacesOfBundles(t *testing.T) {
	path := bundled(t, "{", "{")
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	if err := os.Symlink(filepath.Join(t.TempDir(), "gone"), nowhere); err != nil {
		t.Skip(err)
	}
	nameless := filepath.Join(t.TempDir(), ".tar.gz")
	if err := os.Link(path, nameless); err != nil {
		t.Skip(err)
	}
	for want, args := range map[string][]string{
		"has no name for a folder": {"report", nameless},
		"--figures: ":              {"report", path, "--out", t.TempDir() + "/a", "--figures", path},
		"--out: ":                  {"report", path, "--out", nowhere},
		"there is no folder":       {"bundle", t.TempDir(), "-o", filepath.Join(t.TempDir(), "x", "y")},
	} {
		if args[0] == "bundle" {
			args[1] = unbundled(t, path)
		}
		if status, _, stderr := execute(args...); status != job.ExitUsage ||
			!strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// unbundled takes a bundle out.
func unbundled(t *testing.T, path string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "out")
	if status, _, stderr := execute("report", path, "--out", folder); status != 0 {
		t.Fatal(stderr)
	}
	return folder
}

// A bundle whose configuration trains for longer than its run did is not replayed.
func TestReplayedForAsLongAsItTook(t *testing.T) {
	there := &record.Summary{TrainSeconds: 12, Epochs: 2.5}
	there.Steps = 100
	for _, c := range []struct {
		name   string
		config setting.Config
		ok     bool
	}{
		{"its steps", setting.Config{Steps: 100}, true},
		{"its epochs", setting.Config{Epochs: 3}, true},
		{"its time", setting.Config{For: "12s"}, true},
		{"ended by its accuracy", setting.Config{Epochs: 50, Until: 0.9}, true},
		{"1000 hours", setting.Config{For: "1000h"}, false},
		{"1000 hours, or an accuracy", setting.Config{For: "1000h", Until: 0.9}, false},
		{"more steps", setting.Config{Steps: 1e9}, false},
		{"more epochs", setting.Config{Epochs: 4}, false},
	} {
		err := isLengthOf(c.config, there)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "are not of one run") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What is no file that can be replayed is refused with what to give instead.
func TestReplayOfNoFile(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		folder:         folder + " is a folder; give the file that lockstep bundle " + folder + " writes",
		os.DevNull:     "not a regular file; give a file that lockstep bundle wrote",
		folder + "/no": "does not exist; give a file that lockstep bundle wrote",
	} {
		status, _, stderr := execute("replay", path)
		if status != job.ExitUsage || !strings.HasSuffix(stderr, want+"\n") {
			t.Errorf("%s: status %d, %q, want %q", path, status, stderr, want)
		}
	}
}
