package regular

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// errIrregular is the error of Open for anything but a regular file.
var errIrregular = errors.New("not a regular file")

// Open opens a regular file for reading. It refuses folders, pipes and devices, and unlike os.Open
// does not wait for the other end of a pipe. Errors are *fs.PathError.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// ReadFile returns the content of a regular file, which may have at most so many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	text, err := ReadAll(f, most)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, nil
}

// ReadAll returns what is left of r, which may be at most so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	var b bytes.Buffer
	if f, isFile := r.(*os.File); isFile {
		if info, err := f.Stat(); err == nil && info.Size() <= most {
			b.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	n, err := b.ReadFrom(io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("more than %d bytes, the most that are read of such a file", most)
	}
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Hash returns the SHA-256 of a regular file, in hexadecimal.
func Hash(path string) (string, error) {
	f, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // nothing was written
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// bufferBytes is the buffer size of Replace.
const bufferBytes = 1 << 20

// Replace replaces the file at path by the contents that fill writes, once they are on disk, or
// leaves it unchanged. The file gets the permissions that the process's umask allows. Errors of the system
// name path.
func Replace(path string, fill func(io.Writer) error) error {
	f, err := createBeside(path)
	if err != nil {
		return naming(path, err)
	}
	b := bufio.NewWriterSize(f, bufferBytes)
	err = fill(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil { // before the end of its lock
		err = os.Rename(f.Name(), path)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name()) // the first error is the one to return
		if at := (*fs.PathError)(nil); errors.As(err, &at) && at.Path == f.Name() {
			return naming(path, err)
		}
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Write replaces the file at path by text, as Replace does.
func Write(path string, text []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// naming returns an error about the file beside path as one about path, the name that the reader knows.
func naming(path string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// createBeside creates a temporary file in the folder of path. os.CreateTemp is unsuitable: its files are
// readable by their owner only, and only the system can apply the umask without a race.
func createBeside(path string) (*os.File, error) {
	return temporary(filepath.Dir(path), filepath.Base(path), func(path string) (*os.File, error) {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	})
}

// SyncFolder makes a rename in folder durable. Systems that cannot sync folders do so by
// themselves.
func SyncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
