package bundle

import (
	"archive/tar"
	"bufio"
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
	"strings"

	"lockstep/internal/regular"
)

// Extract takes a bundle out into folder, which must be empty or absent. Errors of the bundle are
// *FormatError; then some of its files may be there.
func Extract(r io.Reader, folder string) (Manifest, error) {
	var m Manifest
	err := withReader(r, func(t *tar.Reader, end func() error) (err error) {
		m, err = extract(t, end, folder)
		return err
	})
	return m, err
}

// withReader decompresses a bundle. end fails if anything follows the archive.
func withReader(r io.Reader, use func(t *tar.Reader, end func() error) error) error {
	in := bufio.NewReader(r) // gzip reads no byte too many from it
	z, err := gzip.NewReader(in)
	if err != nil {
		return refuse("", "it is no gzip file: %v", err)
	}
	z.Multistream(false)
	// The manifest bounds the files; headers and padding are a small part of them.
	limited := &io.LimitedReader{R: z, N: MaxBytes + maxManifest + MaxFiles*4096}
	return use(tar.NewReader(limited), func() error {
		if n, err := io.Copy(io.Discard, limited); err != nil || n > 1<<20 {
			return refuse("", "%d bytes follow its last entry (%v)", n, err)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			return refuse("", "something follows its end")
		}
		return nil
	})
}

// next returns the header of the next entry, which must be a regular file.
func next(t *tar.Reader) (*tar.Header, error) {
	h, err := t.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, tar.ErrHeader):
		return nil, refuse("", "the gzip file holds no tar archive, or a damaged one (%v); want a file that "+
			"lockstep bundle wrote; if it is a compressed results.json, unpack it with gunzip", err)
	case err != nil:
		return nil, refuse("", "%v", err)
	case h.Typeflag != tar.TypeReg || h.Linkname != "" || len(h.PAXRecords) > 0 && isSparse(h):
		return nil, refuse(h.Name, "it is no regular file")
	}
	return h, nil
}

// isSparse reports whether an entry says that it is larger than its bytes.
func isSparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse") {
			return true
		}
	}
	return false
}

// readManifest reads the first entry.
func readManifest(t *tar.Reader) (m Manifest, err error) {
	h, err := next(t)
	if errors.Is(err, io.EOF) {
		return m, refuse("", "it is empty")
	}
	if err != nil {
		return m, err
	}
	if h.Name != ManifestFile || h.Size > maxManifest {
		return m, refuse(h.Name, "the first entry has %d bytes; want %s, at most %d bytes", h.Size,
			ManifestFile, maxManifest)
	}
	text, err := regular.ReadAll(t, maxManifest)
	if err != nil {
		return m, refuse(h.Name, "%v", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, refuse(h.Name, "%v", err)
	}
	if m.Schema != schema {
		return m, refuse(h.Name, "schema %d; this program reads %d", m.Schema, schema)
	}
	if m.Kind != Bench && m.Kind != Training {
		return m, refuse(h.Name, "kind %.80q; want %s or %s", m.Kind, Bench, Training)
	}
	return m, checkFiles(m.Files)
}

// extract writes what the manifest lists, and nothing else.
func extract(t *tar.Reader, end func() error, folder string) (Manifest, error) {
	m, err := readManifest(t)
	if err != nil {
		return m, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return m, fmt.Errorf("bundle: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return m, fmt.Errorf("bundle: %w", err)
	}
	if len(entries) > 0 {
		return m, fmt.Errorf("bundle: %s is not empty; want a new folder", folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return m, fmt.Errorf("bundle: %w", err)
	}
	defer root.Close()
	for i, file := range m.Files {
		h, err := next(t)
		if errors.Is(err, io.EOF) {
			return m, refuse("", "it ends after %d of %d files", i, len(m.Files))
		}
		if err != nil {
			return m, err
		}
		if h.Name != file.Name || h.Size != file.Bytes {
			return m, refuse(h.Name, "%d bytes; the manifest has %.80q of %d bytes here", h.Size, file.Name,
				file.Bytes)
		}
		if err := take(t, root, file); err != nil {
			return m, err
		}
	}
	if h, err := next(t); err == nil {
		return m, refuse(h.Name, "the manifest does not list it")
	} else if !errors.Is(err, io.EOF) {
		return m, err
	}
	return m, end()
}

// take writes one file and checks its digest. The root keeps it inside the folder, whatever its name is.
func take(from io.Reader, root *os.Root, file File) error {
	name := filepath.FromSlash(file.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(from, file.Bytes+1))
	var local *fs.PathError
	switch failed := f.Close(); {
	case errors.As(err, &local): // of this machine: the disk is full
		return fmt.Errorf("bundle: %w", err)
	case err != nil:
		return refuse(file.Name, "%v", err)
	case failed != nil:
		return fmt.Errorf("bundle: %w", failed)
	case n != file.Bytes || hex.EncodeToString(h.Sum(nil)) != file.SHA256:
		return refuse(file.Name, "its bytes are not those of the manifest")
	}
	return nil
}
