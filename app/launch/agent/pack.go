package agent

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Pack writes the named file or folder below folder, which may be missing, to w as a tar archive. Only
// folders and regular files are written.
func Pack(w io.Writer, folder, name string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("pack %.80q: not below the folder", name)
	}
	t := tar.NewWriter(w)
	err := filepath.WalkDir(filepath.Join(folder, name), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return packOne(t, folder, path, e)
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// packOne writes a file, or a folder without what is in it.
func packOne(t *tar.Writer, folder, path string, e fs.DirEntry) error {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	header.Name = filepath.ToSlash(name)
	header.Uname, header.Gname = "", "" // as on the other host, they mean nothing here
	if err := t.WriteHeader(header); err != nil || e.IsDir() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	_, err = io.CopyN(t, f, info.Size())
	return err
}

// Unpack writes what an archive of Pack holds below folder, which must exist. The archive may come from
// anybody: names that leave the folder, also by links that are in it, are errors. An archive without its end
// is an error too.
func Unpack(r io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	ender := &ender{Reader: r}
	t := tar.NewReader(ender)
	for {
		header, err := t.Next()
		if err == io.EOF && ender.hasEnded {
			return io.ErrUnexpectedEOF
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(header.Name, "/"))
		if !filepath.IsLocal(name) {
			return fmt.Errorf("unpack %.80q: not below the folder", header.Name)
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o777)
		case tar.TypeReg:
			err = unpackFile(root, name, t)
		default:
			err = fmt.Errorf("unpack %.80q: neither a file nor a folder", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

// ender is a reader that knows whether it has come to its end. The reader of an archive with an end does not.
type ender struct {
	io.Reader
	hasEnded bool
}

// Read reads as the reader does.
func (e *ender) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.hasEnded = e.hasEnded || err == io.EOF
	return n, err
}

// unpackFile writes one file.
func unpackFile(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
