package launch

import (
	"archive/tar"
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Pack writes what is below the named files and folders of folder, which may be missing, to w as a tar
// archive. Only folders and regular files are written.
func Pack(w io.Writer, folder string, names []string) error {
	t := tar.NewWriter(w)
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("pack %q: not below the folder", name)
		}
		top := filepath.Join(folder, name)
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
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
			return fmt.Errorf("unpack %q: not below the folder", header.Name)
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o777)
		case tar.TypeReg:
			err = unpackFile(root, name, t)
		default:
			err = fmt.Errorf("unpack %q: neither a file nor a folder", header.Name)
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

// Fetch names results of a job.
type Fetch struct {
	Folder string   `json:"folder"` // of the job
	Names  []string `json:"names"`  // below it
}

// Send answers a Fetch that it reads from in, with an archive of what is below the folder of jobs.
func Send(in io.Reader, out io.Writer, jobs string) error {
	text, err := bufio.NewReader(io.LimitReader(in, maxLine)).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what to send: %w", err)
	}
	var f Fetch
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("read what to send: %w", err)
	}
	if !filepath.IsLocal(f.Folder) {
		return fmt.Errorf("folder %q is not below that of jobs", f.Folder)
	}
	return Pack(out, filepath.Join(jobs, f.Folder), f.Names)
}

// Take asks for results over a stream to Send and puts them below the folder to, which must exist and be
// on the disk of their place. Each of the names then replaces what is there, at once: a name that ends in /*
// stands for all in that folder, and only what is not there yet is added.
func Take(stream io.ReadWriter, f Fetch, to string) error {
	text, err := json.Marshal(Fetch{Folder: f.Folder, Names: trimmed(f.Names)})
	if err != nil {
		return err
	}
	if _, err := stream.Write(append(text, '\n')); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(to, ".lockstep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := Unpack(stream, scratch); err != nil {
		return err
	}
	for _, name := range f.Names {
		if err := settle(scratch, to, name); err != nil {
			return err
		}
	}
	return nil
}

// trimmed returns names without /* at their ends.
func trimmed(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, strings.TrimSuffix(name, "/*"))
	}
	return all
}

// settle moves a result to its place.
func settle(scratch, to, name string) error {
	folder, isAll := strings.CutSuffix(name, "/*")
	if !isAll {
		return replace(filepath.Join(scratch, name), filepath.Join(to, name))
	}
	entries, err := os.ReadDir(filepath.Join(scratch, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		target := filepath.Join(to, folder, e.Name())
		if _, err := os.Lstat(target); err == nil {
			continue
		}
		if err := replace(filepath.Join(scratch, folder, e.Name()), target); err != nil {
			return err
		}
	}
	return err
}

// replace renames a file or folder, which may be missing, to a name that may be taken.
func replace(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	old := from + ".old"
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.RemoveAll(old)
}
