package command

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/report"
)

// Every page below results/ says what today's rules say of the results beside it: -update renders it again.
func TestPagesFollowFromTheirResults(t *testing.T) {
	root := filepath.Join("..", "..", "results")
	pages := 0
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if !strings.HasPrefix(filepath.Base(path), report.ResultsFile) || err != nil {
			return err
		}
		page := filepath.Join(filepath.Dir(path), report.MarkdownFile)
		want, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		pages++
		folder := t.TempDir()
		copyResults(t, path, filepath.Join(folder, report.ResultsFile))
		made, err := reportOf(folder)
		if err != nil {
			return err
		}
		var got bytes.Buffer
		if err := made.Markdown(&got); err != nil {
			return err
		}
		if *update {
			return os.WriteFile(page, got.Bytes(), 0o644)
		}
		if got.String() != string(want) {
			t.Errorf("%s is not what its results say: go test ./app/command -run Pages -update", page)
		}
		return nil
	})
	if err != nil || pages < 5 {
		t.Fatalf("%d pages, error %v", pages, err)
	}
}

// copyResults copies results, which may be compressed.
func copyResults(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(from, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := io.ReadAll(io.LimitReader(text, 1<<28))
	if err == nil {
		err = os.WriteFile(to, all, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
