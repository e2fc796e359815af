package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lockstep/internal/analysis"
)

// ResultsFile is the name of the results in the benchmark's folder.
const ResultsFile = "results.json"

// claim creates the folder of a benchmark. A folder with anything in it is refused: results are
// never overwritten.
func claim(folder string) error {
	if folder == "" {
		return usage("no folder for the results")
	}
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return usage("--out: %v", err)
	case len(entries) > 0:
		return usage("--out: %s is not empty (it holds %s); choose a new folder", folder,
			entries[0].Name())
	}
	if err := os.MkdirAll(filepath.Join(folder, "runs"), 0o755); err != nil {
		return usage("--out: %v", err)
	}
	return nil
}

// save replaces the results file: the new content is on disk before the name points to it.
func save(folder string, r *analysis.Results) error {
	var b bytes.Buffer
	if err := analysis.Encode(&b, r); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	f, err := os.CreateTemp(folder, ".results-*")
	if err != nil {
		return fmt.Errorf("bench: results: %w", err)
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	_, err = f.Write(b.Bytes())
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, ResultsFile))
	}
	if err != nil {
		return fmt.Errorf("bench: results: %w", err)
	}
	return nil
}
