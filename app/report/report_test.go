package report_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	asPage = (*report.Report).HTML
	asText = (*report.Report).Markdown
)

func render(t *testing.T, f func(*report.Report, io.Writer) error, r *record.Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(report.Benchmark(r), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, f := range map[string]func(*report.Report, io.Writer) error{
		report.MarkdownFile: asText, report.HTMLFile: asPage,
	} {
		t.Run(name, func(t *testing.T) {
			got := render(t, f, sample())
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s at %q; look at it, then run with -update",
					path, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[max(0, i-40):min(len(got), i+40)]
		}
	}
	return "the end"
}

func loadsNothing(t *testing.T, page string) {
	t.Helper()
	for _, forbidden := range []string{`<script`, `<link`, `<img`, `<iframe`, `<object`, `<form`,
		` style=`, ` src=`, `@import`, `javascript:`, `http://`, `https://`, `//`} {
		if i := strings.Index(strings.ToLower(page), forbidden); i >= 0 {
			t.Errorf("the page contains %q: %s", forbidden, page[max(0, i-60):min(len(page), i+60)])
		}
	}
	if handler := regexp.MustCompile(`(?i)<[^>]*\son[a-z]+=`).FindString(page); handler != "" {
		t.Errorf("the page has an event handler: %s", handler)
	}
	for _, link := range regexp.MustCompile(`(?:href="|url\()([^")]*)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(link[1], "#") {
			t.Errorf("the page refers to %q, want only its own anchors", link[1])
		}
	}
	for _, wanted := range []string{
		`<html lang="en">`, `name="viewport"`, `prefers-color-scheme:dark`,
		`http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-`,
	} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

// isBalanced checks that every element is closed by its own end tag, and every anchor and label has a target.
func isBalanced(t *testing.T, page string) {
	t.Helper()
	page = page[:strings.Index(page, "<style>")] + page[strings.Index(page, "</style>")+8:]
	void := map[string]bool{"meta": true, "br": true}
	named := regexp.MustCompile(` id="([^"]*)"`)
	var open []string
	ids := map[string]bool{}
	for _, tag := range regexp.MustCompile(`<(/?)([a-zA-Z0-9]+)([^>]*?)(/?)>`).
		FindAllStringSubmatch(page, -1) {
		name := tag[2]
		for _, id := range named.FindAllStringSubmatch(tag[3], -1) {
			if ids[id[1]] {
				t.Errorf("id %s is used twice", id[1])
			}
			ids[id[1]] = true
		}
		switch {
		case void[name] || tag[4] == "/":
		case tag[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("</%s> closes %v", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
	for _, ref := range regexp.MustCompile(`(?:href="#|url\(#|-labelledby=")([^")]*)`).
		FindAllStringSubmatch(page, -1) {
		for id := range strings.FieldsSeq(ref[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %s", id)
			}
		}
	}
}

// A page of rows that hold some of their steps says so, and numbers these as they were.
func TestSomeSteps(t *testing.T) {
	r := sample()
	for i := range r.Rows {
		r.Rows[i].Every, r.Rows[i].Setting.For, r.Rows[i].Setting.Steps = 9, "30s", 0
	}
	page := render(t, asText, r)
	for _, want := range []string{"30s of training, figures of one step in 9 ",
		"| A  single 1×1 | 172 | 1.5320 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Odd results must still give a page: nothing run, everything failed, one step, no loss.
func TestOddResults(t *testing.T) {
	empty := sample()
	empty.Rows = nil
	notRun := sample()
	notRun.Complete = false
	for i := range notRun.Rows {
		notRun.Rows[i].Runs = nil
	}
	failed := sample()
	oneStep := sample()
	for i := range failed.Rows {
		for j := range failed.Rows[i].Runs {
			failed.Rows[i].Runs[j].Error = "no"
			failed.Rows[i].Runs[j].Ranks = nil
			ranks := oneStep.Rows[i].Runs[j].Ranks
			for k := range ranks {
				s := &ranks[k].Steps
				s.Epoch, s.Samples = s.Epoch[:1], s.Samples[:1]
				s.Loss, s.OwnLoss, s.Seconds = s.Loss[:1], s.OwnLoss[:1], s.Seconds[:1]
				for name := range s.Phases {
					s.Phases[name] = s.Phases[name][:1]
				}
			}
		}
	}
	for name, r := range map[string]*record.Results{
		"empty": empty, "not run": notRun, "failed": failed, "one step": oneStep,
	} {
		t.Run(name, func(t *testing.T) {
			page := render(t, asPage, r)
			for _, bad := range []string{"NaN", "Inf"} {
				if strings.Contains(page, bad) {
					t.Errorf("the page shows %s", bad)
				}
			}
			render(t, asText, r)
		})
	}
}

func TestWriteAndRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, report.ResultsFile)
	if err := report.Save(folder, sample()); err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	r.Schema = 0 // these rows were never run, so they lack what every file of a benchmark has
	r.Seal = ""
	if err := report.Benchmark(r).Write(folder); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(written); got != render(t, asPage, sample()) {
		t.Error("the page of decoded results differs from the page of the results")
	}
	if err := os.WriteFile(path, []byte(`{"schema":99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := report.Read(folder); err == nil || !strings.Contains(err.Error(), "schema 99") {
		t.Errorf("a newer schema gives %v, want an error that names it", err)
	}
}
