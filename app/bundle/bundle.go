package bundle

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"lockstep/internal/regular"
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

// isLeftOut reports whether a file stays out of bundles: weights and what else is large and can be made
// again.
func isLeftOut(name string) bool {
	return strings.HasSuffix(name, ".safetensors") || slices.Contains(strings.Split(name, "/"), "checkpoints")
}

// Scan lists the files of a folder, except hidden ones: those are of a process at work, or left by one that
// was killed. It fails for links and other files that are not regular: a bundle holds what lies in the folder
// and nothing else.
func Scan(folder string, m Manifest) (Manifest, error) {
	m.Schema, m.Files, m.LeftOut = schema, nil, []string{}
	total := int64(0)
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err == nil && at != folder && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if isLeftOut(name) {
			m.LeftOut = append(m.LeftOut, name)
			return nil
		}
		if !d.Type().IsRegular() {
			return refuse(at, "it is no regular file, as a link is none; want the file itself")
		}
		sum, err := regular.Hash(at)
		if err != nil {
			return err
		}
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		n := info.Size()
		m.Files = append(m.Files, File{name, n, sum})
		if total += n; total > MaxBytes || len(m.Files) > MaxFiles {
			return refuse("", "%s has more than %d files or %d bytes", folder, MaxFiles, MaxBytes)
		}
		return nil
	})
	if err != nil {
		return m, fmt.Errorf("bundle: %s: %w", folder, err)
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(m.LeftOut)
	return m, checkFiles(m.Files)
}

// Write writes the bundle of a folder whose files Scan has listed. Of one that has grown since, as that of a
// run that goes on, it takes what was there. It fails if one has changed otherwise.
func Write(w io.Writer, folder string, m Manifest) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	t := tar.NewWriter(z)
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if err := add(t, ManifestFile, int64(len(text)), strings.NewReader(string(text))); err != nil {
		return err
	}
	for _, file := range m.Files {
		f, err := regular.Open(filepath.Join(folder, filepath.FromSlash(file.Name)))
		if err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
		h := sha256.New()
		err = errors.Join(add(t, file.Name, file.Bytes, io.TeeReader(f, h)), f.Close())
		if err == nil && hex.EncodeToString(h.Sum(nil)) != file.SHA256 {
			err = refuse(file.Name, "it has changed meanwhile; want the folder of a run that has ended")
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return nil
}

// add writes an entry without anything that differs from machine to machine.
func add(t *tar.Writer, name string, size int64, from io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return fmt.Errorf("bundle: %s: %w", name, err)
	}
	if _, err := io.Copy(t, io.LimitReader(from, size)); err != nil {
		return fmt.Errorf("bundle: %s: %w", name, err)
	}
	return nil
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
