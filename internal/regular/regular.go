package regular

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// errIrregular is what Open refuses.
var errIrregular = errors.New("not a regular file")

// Open opens a file for reading. It refuses folders, pipes and devices, and does not wait for the other
// side of a pipe as os.Open does. Errors are *fs.PathError.
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
		f.Close() // only opened
		return nil, err
	}
	return f, nil
}

// bufferBytes is how much Replace collects for one call of the system.
const bufferBytes = 1 << 20

// Replace gives path the contents that fill writes, once they have reached the disk, or leaves what was
// there. The file has the permissions that the process's umask leaves.
func Replace(path string, fill func(io.Writer) error) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, bufferBytes)
	err = fill(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // the first error is the one to report
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// createBeside creates a hidden file of a new name in the folder of path. os.CreateTemp is no help: its
// files are for their owner alone, and only the system can apply the umask while others change it.
func createBeside(path string) (*os.File, error) {
	for {
		name := "." + filepath.Base(path) + "-" + rand.Text()
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// SyncFolder makes a rename in folder last. Systems that cannot do so for folders, do so by themselves.
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
