package rundir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Discard removes a log that a run can do without, a file or a folder of the directory, and returns how
// many bytes that freed. For TraceFile it removes the recordings of all workers. Files are emptied first:
// other workers may have them open, and the disk keeps what an open file holds.
func (d Directory) Discard(name string) (freed int64) {
	paths := d.pathsOf(name)
	empty := func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it frees nothing
		}
		if info, err := e.Info(); err == nil && os.Truncate(file, 0) == nil {
			freed += info.Size()
		}
		return nil
	}
	for _, path := range paths {
		filepath.WalkDir(path, empty) // which returns no error
		os.RemoveAll(path)            // a rest of it takes no room
	}
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
		for _, path := range d.pathsOf(name) {
			filepath.WalkDir(path, add) // which returns no error
		}
	}
	return bytes
}

// pathsOf returns the files or the folder of a log.
func (d Directory) pathsOf(name string) []string {
	if name != TraceFile {
		return []string{d.Path(name)}
	}
	paths, _ := filepath.Glob(d.Path(recordingPattern)) // the pattern is well formed
	return paths
}
