package bench

import (
	"errors"
	"io/fs"
	"os"
)

// Claim creates the folder of results. A folder with anything in it is refused, with a
// *setting.UsageError: results are never overwritten.
func Claim(folder string) error {
	if folder == "" {
		return usage("no folder for the results")
	}
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return usage("--out: %v", err)
	case len(entries) > 0:
		return usage("--out: %s is not empty (it holds %s); choose a new folder", folder, entries[0].Name())
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return usage("--out: %v", err)
	}
	return nil
}
