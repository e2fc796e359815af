package bundle

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode"
)

// Bounds of a bundle.
const (
	MaxBytes    = 1 << 30 // of all files together
	MaxFiles    = 20000
	maxManifest = 8 << 20
	maxName     = 240 // bytes of a path
)

// ManifestFile is the first entry of a bundle.
const ManifestFile = "bundle.json"

// schema is the version of the manifest.
const schema = 1

// The kinds of folders.
const (
	Bench    = "bench"    // results.json of lockstep bench or of a recipe
	Training = "training" // a run directory
)

// Manifest says what a bundle holds.
type Manifest struct {
	Schema   int      `json:"schema"`
	Kind     string   `json:"kind"`
	Version  string   `json:"version"`  // of the program that made the bundle
	Revision string   `json:"revision"` // of its source
	Files    []File   `json:"files"`    // in the order of their names
	LeftOut  []string `json:"left_out"` // files of the folder that are not in the bundle
}

// File is a file of a bundle.
type File struct {
	Name   string `json:"name"` // relative, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// FormatError says why a file is no bundle, or none that may be taken out.
type FormatError struct {
	Entry  string // the entry that is wrong; "": the file
	Reason string
}

// Error names the entry and what is wrong with it.
func (e *FormatError) Error() string {
	if e.Entry == "" {
		return "bundle: " + e.Reason
	}
	return fmt.Sprintf("bundle: entry %.80q: %s", e.Entry, e.Reason)
}

func refuse(entry, format string, args ...any) error {
	return &FormatError{entry, fmt.Sprintf(format, args...)}
}

// checkFiles refuses lists with too much, and names that lead out of a folder or that file systems read
// differently. Of two names that a file system takes for one, the second is not written.
func checkFiles(files []File) error {
	if len(files) > MaxFiles {
		return refuse("", "%d files; want at most %d", len(files), MaxFiles)
	}
	total := int64(0)
	for _, f := range files {
		isOdd := func(c rune) bool { return unicode.IsControl(c) || strings.ContainsRune(`\:*?"<>|`, c) }
		switch {
		case len(f.Name) > maxName || !fs.ValidPath(f.Name) || f.Name == ".":
			return refuse(f.Name, "its path is not one below a folder, of at most %d bytes", maxName)
		case strings.ContainsFunc(f.Name, isOdd):
			return refuse(f.Name, "its name has a character that some file systems do not take")
		case f.Bytes < 0 || f.Bytes > MaxBytes-total:
			return refuse(f.Name, "%d bytes, %d before it; want at most %d in all", f.Bytes, total, MaxBytes)
		}
		total += f.Bytes
	}
	return nil
}
