package rundir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Discard removes a log that a run can do without, a file or a folder of the directory, and returns how
// many bytes that freed. Files are emptied first: other workers may have them open, and the disk keeps what
// an open file holds.
func (d Directory) Discard(name string) (freed int64) {
	empty := func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it frees nothing
		}
		if info, err := e.Info(); err == nil && os.Truncate(file, 0) == nil {
			freed += info.Size()
		}
		return nil
	}
	filepath.WalkDir(d.Path(name), empty) // which returns no error
	os.RemoveAll(d.Path(name))            // a rest of it takes no room
	return freed
}

// Discardable returns at most how many bytes of the disk [Directory.Discard] of the logs frees.
func (d Directory) Discardable(names ...string) (bytes int64) {
	const block = 4096 // file systems hand out whole blocks, seldom larger ones
	add := func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it frees nothing
		}
		if info, err := e.Info(); err == nil {
			bytes += (info.Size() + block - 1) / block * block
		}
		return nil
	}
	for _, name := range names {
		filepath.WalkDir(d.Path(name), add) // which returns no error
	}
	return bytes
}
