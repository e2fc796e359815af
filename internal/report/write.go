package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lockstep/internal/analysis"
)

// The files of a benchmark's folder.
const (
	ResultsFile  = "results.json"
	MarkdownFile = "report.md"
	HTMLFile     = "report.html"
)

// Read returns the results in folder.
func Read(folder string) (*analysis.Results, error) {
	path := filepath.Join(folder, ResultsFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	r, err := analysis.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", path, err)
	}
	return r, nil
}

// Write renders r into report.md and report.html of folder. Each file appears complete or not at
// all; a former report is replaced.
func Write(folder string, r *analysis.Results) error {
	for _, file := range []struct {
		name   string
		render func(io.Writer, *analysis.Results) error
	}{{MarkdownFile, Markdown}, {HTMLFile, HTML}} {
		var b bytes.Buffer
		if err := file.render(&b, r); err != nil {
			return err
		}
		if err := replace(filepath.Join(folder, file.name), b.Bytes()); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// replace writes a file beside path and renames it over path.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
