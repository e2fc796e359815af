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

	"lockstep/internal/regular"
)

// Extract takes a bundle out into folder, which must be empty or absent: what its manifest lists and nothing
// else. Errors of the bundle are *FormatError; then some of its files may be there.
func Extract(r io.Reader, folder string) (m Manifest, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return m, refuse("", "it is no gzip file: %v", err)
	}
	// The manifest bounds the files; headers and padding are a small part of them.
	limited := io.LimitReader(z, MaxBytes+maxManifest+MaxFiles*4096)
	t := tar.NewReader(limited)
	if m, err = readManifest(t); err != nil {
		return m, err
	}
	root, err := openEmpty(folder)
	if err != nil {
		return m, fmt.Errorf("bundle: %w", err)
	}
	defer root.Close()
	for i, file := range m.Files {
		h, err := next(t)
		switch {
		case errors.Is(err, io.EOF):
			return m, refuse("", "it ends after %d of %d files", i, len(m.Files))
		case err != nil:
			return m, err
		case h.Name != file.Name || h.Size != file.Bytes:
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
	if _, err := io.Copy(io.Discard, limited); err != nil { // what gzip tells at its end
		return m, refuse("", "%v", err)
	}
	return m, nil
}

// openEmpty opens a folder, which it creates if need be, and fails if something is in it.
func openEmpty(folder string) (*os.Root, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty; want a new folder", folder)
	}
	return os.OpenRoot(folder)
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
	case h.Typeflag != tar.TypeReg:
		return nil, refuse(h.Name, "it is no regular file")
	}
	return h, nil
}

// readManifest reads the first entry.
func readManifest(t *tar.Reader) (m Manifest, err error) {
	h, err := next(t)
	switch {
	case errors.Is(err, io.EOF):
		return m, refuse("", "it is empty")
	case err != nil:
		return m, err
	case h.Name != ManifestFile:
		return m, refuse(h.Name, "the first entry; want %s", ManifestFile)
	}
	text, err := regular.ReadAll(t, maxManifest)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	switch {
	case err != nil:
		return m, refuse(h.Name, "%v", err)
	case m.Schema != schema:
		return m, refuse(h.Name, "schema %d; this program reads %d", m.Schema, schema)
	case m.Kind != Bench && m.Kind != Training:
		return m, refuse(h.Name, "kind %.80q; want %s or %s", m.Kind, Bench, Training)
	}
	return m, checkFiles(m.Files)
}

// take writes one file and checks its digest. The root keeps it inside the folder, whatever its name is.
func take(from io.Reader, root *os.Root, file File) error {
	name := filepath.FromSlash(file.Name)
	err := root.MkdirAll(filepath.Dir(name), 0o777)
	var f *os.File
	if err == nil {
		f, err = root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return refuse(file.Name, "something of that name was in it before")
	case err != nil:
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
