package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/internal/regular"
)

// The files of a benchmark's folder.
const (
	ResultsFile  = "results.json"
	MarkdownFile = "report.md"
	HTMLFile     = "report.html"
)

// Read returns the results in folder. An error names the file; os.ErrNotExist is wrapped.
func Read(folder string) (*record.Results, error) {
	return ReadFile(filepath.Join(folder, ResultsFile))
}

// ReadFile returns the results in a file. An error names it; os.ErrNotExist is wrapped.
func ReadFile(path string) (*record.Results, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	r, err := record.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", path, err)
	}
	return r, nil
}

// Save writes r to results.json of folder. The former content stays until the new one is on disk.
func Save(folder string, r *record.Results) error {
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := regular.Write(filepath.Join(folder, ResultsFile), b.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// Report is a report that is ready to be written: as a page, as Markdown, or for a terminal.
type Report struct{ page page }

// Benchmark lays out the report of a benchmark.
func Benchmark(r *record.Results) *Report { return &Report{newPage(r, compare.Compare(r))} }

// HTML writes the report as one page that needs nothing else; see the package.
func (r *Report) HTML(w io.Writer) error { return writePage(w, r.page) }

// Markdown writes the answer, the tables and the statements of the report as text.
func (r *Report) Markdown(w io.Writer) error { return writeMarkdown(w, r.page) }

// Text writes the short form for a terminal, the answer last.
func (r *Report) Text(w io.Writer) error { return writeTerminal(w, r.page) }

// Write renders report.md and report.html into folder. Each file appears complete or not at all; a former
// report is replaced.
func (r *Report) Write(folder string) error {
	return writeFiles(folder, []rendering{{MarkdownFile, r.Markdown}, {HTMLFile, r.HTML}})
}

// rendering is a file and what writes it.
type rendering struct {
	name  string
	write func(io.Writer) error
}

// writeFiles renders files into folder, each whole or not at all.
func writeFiles(folder string, files []rendering) error {
	for _, file := range files {
		var b bytes.Buffer
		if err := file.write(&b); err != nil {
			return err
		}
		if err := regular.Write(filepath.Join(folder, file.name), b.Bytes()); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// maxConfig is more than the bytes of a configuration.
const maxConfig = 1 << 20

// HoldsTraining reports whether folder is the directory of a training run that has ended.
func HoldsTraining(folder string) bool {
	_, err := os.Stat(rundir.Directory(folder).Path(rundir.SummaryFile))
	return err == nil
}

// ReadUnfinished is [ReadTraining] for a run that has left no summary: it takes one that says so.
func ReadUnfinished(folder string, summary *record.Summary) (*compare.Training, error) {
	d := rundir.Directory(folder)
	var steps io.Reader = bytes.NewReader(nil) // a run that only evaluated has none
	f, err := regular.Open(d.Path(rundir.StepsFile))
	if err == nil {
		defer f.Close()
		steps = f
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("report: %w", err)
	}
	t, err := compare.NewTraining(summary, steps)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", folder, err)
	}
	text, err := regular.ReadFile(d.Path(rundir.ConfigFile), maxConfig)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	t.Configuration, t.Machine, t.Spans = string(text), d.Host(), d.Spans
	return t, nil
}

// WriteTraining renders report.md and report.html of the training run in folder from its summary, its steps
// and its configuration. Each file appears complete or not at all; a former one is replaced.
func WriteTraining(folder string) error {
	t, err := ReadTraining(folder)
	if err != nil {
		return err
	}
	return Run(t).Write(folder)
}

// ReadTraining returns what the training run in folder left. An error names the file.
func ReadTraining(folder string) (*compare.Training, error) {
	summary, err := rundir.Directory(folder).Summary()
	if err != nil {
		return nil, err
	}
	if summary.IsInterrupted {
		return nil, fmt.Errorf("report: %s says that the run ended early, and such a run leaves none",
			rundir.SummaryFile)
	}
	return ReadUnfinished(folder, summary)
}
