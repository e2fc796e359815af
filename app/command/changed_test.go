package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
)

// trained leaves a run of two workers in a folder.
func trained(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	status, _, stderr := execute("train", "--model=lenet", "--data=glyphs", "--workers=2", "--threads=1",
		"--batch=16", "--steps=12", "--limit-train=192", "--limit-test=50", "--link=local", "--quiet",
		"--out", folder)
	if status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	return folder
}

// reports makes the report of a folder, which is refused for a reason unless that is empty.
func reports(t *testing.T, folder, reason string) {
	t.Helper()
	want := job.ExitOK
	if reason != "" {
		want = job.ExitCheck
	}
	status, _, stderr := execute("report", folder)
	if status != want || !strings.Contains(stderr, reason) {
		t.Errorf("status %d, %q; want %q", status, stderr, reason)
	}
}

// left returns a file that a run has left, and its path.
func left(t *testing.T, folder, name string) (path string, text []byte) {
	t.Helper()
	path = filepath.Join(folder, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, text
}

// A training run whose files were changed has no report, and is not laid beside another.
func TestSealOfATraining(t *testing.T) {
	folder := trained(t)
	for _, c := range []struct{ file, was, is, want string }{
		{rundir.SummaryFile, `"test_accuracy": [0-9.]+`, `"test_accuracy": 0.9979`, "has a seal that is not"},
		{rundir.StepsFile, `("step":[5-8],.*"loss":)[0-9.]+`, "${1}0.0001", "steps.jsonl has the SHA-256"},
		{rundir.StepsFile, `^.*\n`, "", "steps.jsonl has the SHA-256"},
	} {
		path, text := left(t, folder, c.file)
		now := regexp.MustCompile(c.was).ReplaceAll(text, []byte(c.is))
		if bytes.Equal(now, text) {
			t.Fatalf("%s: nothing changed", c.was)
		}
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		for _, args := range [][]string{{"report", folder}, {"report", folder, folder, "--out", out}} {
			status, _, stderr := execute(args...)
			if status != job.ExitCheck || !strings.Contains(stderr, c.want) {
				t.Errorf("%s: %s: status %d, %q; want %q", c.was, args[0], status, stderr, c.want)
			}
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	reports(t, folder, "")
	if err := os.Remove(filepath.Join(folder, rundir.StepsFile)); err != nil {
		t.Fatal(err)
	}
	reports(t, folder, "") // curves may go to make room
}

// Runs that are resumed, that only evaluate and that lost their steps have a seal that fits.
func TestSealsOfOtherTrainings(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	sealed := func(folder string, args ...string) {
		t.Helper()
		status, _, stderr := execute(append(args, "--quiet")...)
		if status != job.ExitOK {
			t.Fatalf("%q: status %d, %q", args, status, stderr)
		}
		if _, text := left(t, folder, rundir.SummaryFile); !bytes.Contains(text, []byte(`"file_sha256": "`)) {
			t.Errorf("%q: no seal", args)
		}
		reports(t, folder, "")
	}
	sealed(folder, "train", "--batch=16", "--steps=12", "--limit-train=192", "--limit-test=50",
		"--link=local", "--shards=2", "--workers=2", "--threads=1", "--checkpoint-every=5", "--out", folder)
	sealed(folder, "train", "--resume", folder) // nothing to do
	sealed(folder, "train", "--resume", folder, "--steps=20", "--workers=1")
	sealed(folder+"-evaluated", "train", "--eval-only", "--weights", folder, "--limit-test=50", "--out",
		folder+"-evaluated")
	path, text := left(t, folder, rundir.SummaryFile)
	now := regexp.MustCompile(`"test_accuracy": [0-9.]+`).ReplaceAll(text, []byte(`"test_accuracy": 0.99`))
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
	reports(t, folder, "summary.json has a seal")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	unlock, err := rundir.Lock(folder) // as another process that resumes the run
	if err != nil {
		t.Fatal(err)
	}
	status, _, stderr := execute("train", "--resume", folder, "--quiet")
	if status != job.ExitUsage || !strings.Contains(stderr, "a run in this directory is still going on") {
		t.Errorf("locked: status %d, %q", status, stderr)
	}
	unlock()
	config, lines := left(t, folder, rundir.ConfigFile)
	edited := bytes.Replace(lines, []byte("\nlr: "), []byte("\nlr: 1"), 1)
	if err := os.WriteFile(config, edited, 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr = execute("train", "--resume", folder, "--quiet", "--steps=24")
	if status != job.ExitUsage || !strings.Contains(stderr, "config.yaml: edited since the run wrote it") {
		t.Errorf("edited: status %d, %q", status, stderr)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	sealed(folder, "train", "--resume", folder, "--steps=24")
}

// check compares a training run with its seal, whether or not it has ended.
func TestCheckOfATraining(t *testing.T) {
	folder := trained(t)
	checks := func(want int, text string) {
		t.Helper()
		status, stdout, stderr := execute("check", folder)
		if status != want || !strings.Contains(stdout, text) || stderr != "" {
			t.Errorf("status %d, %q, %q, want %d and %q", status, stdout, stderr, want, text)
		}
	}
	checks(job.ExitOK, "training run: 0 refused, 0 warnings\n")
	path, text := left(t, folder, rundir.SummaryFile)
	steps, lines := left(t, folder, rundir.StepsFile)
	lines = lines[:1+bytes.LastIndexByte(lines[:len(lines)-1], '\n')] // without the last
	if err := os.WriteFile(steps, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	checks(job.ExitCheck, "refused: seal: steps.jsonl has the SHA-256 ")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	checks(job.ExitOK, "training run: 0 refused, 0 warnings\n")
	if err := os.WriteFile(path, text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := execute("check", folder); status != job.ExitUsage ||
		!strings.Contains(stderr, "give a folder whose files are whole") {
		t.Errorf("half a summary: status %d, %q", status, stderr)
	}
}

// An interrupted run leaves no summary, so one that says so is refused: it would not be compared with steps.
func TestSummaryOfAnInterruptedRun(t *testing.T) {
	folder := trained(t)
	path, text := left(t, folder, rundir.SummaryFile)
	now := bytes.Replace(text, []byte(`"interrupted": false`), []byte(`"interrupted": true`), 1)
	if bytes.Equal(now, text) {
		t.Fatal("nothing changed")
	}
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := execute("report", folder)
	if status != job.ExitUsage || !strings.Contains(stderr, "such a run leaves none") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// sealedResults returns the text of a measured results.json as this version writes it.
func sealedResults(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := record.Encode(&b, unsealedResults(t)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Results that were changed after they were sealed are refused with status 8 and a reason, by check, report
// and bundle, and no report is made; what says the same in another way is not.
func TestChangedResults(t *testing.T) {
	text := sealedResults(t)
	for _, c := range []struct{ name, old, now, want string }{
		{"as it was", "{", "{", ""},
		{"indented", "{", "{ \n", ""},
		{"samples halved", `"samples":10240`, `"samples":5120`, "changed"},
		{"characters that move a cursor", "AMD EPYC", `\u001b[31mred\u0007\u202egnp\u0000\ud800`,
			"changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "results.json")
			if !strings.Contains(text, c.old) {
				t.Fatalf("the file has no %s", c.old)
			}
			now := strings.Replace(text, c.old, c.now, 1)
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			want := job.ExitOK
			if c.want != "" {
				want = job.ExitCheck
			}
			for _, args := range [][]string{{"check", path}, {"check", path, "--json"}, {"report", folder},
				{"bundle", folder, "-o", filepath.Join(t.TempDir(), "b.tar.gz")}} {
				status, stdout, stderr := execute(args...)
				if said := stdout + stderr; status != want || !strings.Contains(said, c.want) ||
					strings.ContainsAny(said, "\x00\x1b\a\u202e") {
					t.Errorf("%v: status %d, %.400q; want %q", args, status, said, c.want)
				}
			}
			if _, err := os.Stat(filepath.Join(folder, "report.html")); (err == nil) != (c.want == "") {
				t.Errorf("report: %v", err)
			}
		})
	}
}

// write writes results with new seals into a folder.
func write(t *testing.T, folder string, r *record.Results) {
	t.Helper()
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "results.json"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unsealedResults returns measured results, as those of an older version, which wrote no seals.
func unsealedResults(t *testing.T) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "r3", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Results without a row are no benchmark, whoever reads them.
func TestResultsWithoutRows(t *testing.T) {
	folder, r := t.TempDir(), unsealedResults(t)
	r.Rows = nil
	write(t, folder, r)
	for _, args := range [][]string{{"check", filepath.Join(folder, "results.json")}, {"report", folder},
		{"bundle", folder, "-o", filepath.Join(t.TempDir(), "b.tar.gz")}} {
		if status, _, stderr := execute(args...); status != job.ExitUsage ||
			!strings.Contains(stderr, "results without rows") {
			t.Errorf("%s: status %d, %q", args[0], status, stderr)
		}
	}
}

// What check refuses though nobody changed it has a report that says so before its first figure.
func TestReportsSayAtTheTopWhatIsRefused(t *testing.T) {
	folder, r := t.TempDir(), unsealedResults(t)
	was := r.Rows[3].Runs[1]
	r.Rows[3].Runs[1] = record.Run{Round: was.Round, Position: was.Position, Directory: was.Directory,
		Started: was.Started, Wall: was.Wall, Error: "worker lost"}
	write(t, folder, r)
	if status, _, stderr := execute("report", folder); status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	text, err := os.ReadFile(filepath.Join(folder, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(string(text), "\n### ")
	if want := "- **refused, failed**: "; !strings.Contains(top, want) {
		t.Errorf("want %q in\n%s", want, top)
	}
	if status, _, _ := execute("check", filepath.Join(folder, "results.json")); status != job.ExitCheck {
		t.Errorf("check: status %d", status)
	}
}

// A benchmark does not go on with results that were changed, which would be sealed anew.
func TestResumeOfChangedResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bench")
	status, _, stderr := execute("bench", "--strategies=single", "--workers=1", "--steps=4", "--repeats=2",
		"--limit-train=64", "--limit-test=0", "--batch=16", "--link=local", "--quiet", "--out", folder)
	if status != job.ExitOK {
		t.Fatalf("status %d, %q", status, stderr)
	}
	path, text := left(t, folder, "results.json")
	before := bytes.Replace(text, []byte(`"samples":64`), []byte(`"samples":32`), 1)
	if err := os.WriteFile(path, before, 0o644); err != nil || bytes.Equal(before, text) {
		t.Fatal(err, "nothing changed")
	}
	status, _, stderr = execute("bench", "--resume", folder, "--quiet")
	after, err := os.ReadFile(path)
	if status != job.ExitCheck || !strings.Contains(stderr, "was changed after it was written") ||
		err != nil || !bytes.Equal(before, after) {
		t.Errorf("status %d, %q, %v", status, stderr, err)
	}
}
