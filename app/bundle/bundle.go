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

	"lockstep/internal/regular"
)

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
