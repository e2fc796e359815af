package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"lockstep/app/record"
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
	path := filepath.Join(folder, ResultsFile)
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
	if err := replace(filepath.Join(folder, ResultsFile), b.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// Write renders r into report.md and report.html of folder. Each file appears complete or not at
// all; a former report is replaced.
func Write(folder string, r *record.Results) error {
	return writeFiles(folder, []rendering{
		{MarkdownFile, func(w io.Writer) error { return Markdown(w, r) }},
		{HTMLFile, func(w io.Writer) error { return HTML(w, r) }}})
}

// writeBoth renders a page into report.md and report.html of folder.
func writeBoth(folder string, p page) error {
	return writeFiles(folder, []rendering{
		{MarkdownFile, func(w io.Writer) error { return writeMarkdown(w, p) }},
		{HTMLFile, func(w io.Writer) error { return writePage(w, p) }}})
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
		if err := replace(filepath.Join(folder, file.name), b.Bytes()); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(path string, content []byte) error {
	return regular.Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
