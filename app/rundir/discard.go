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
	paths := []string{d.Path(name)}
	if name == TraceFile {
		paths, _ = filepath.Glob(d.Path(recordingPattern)) // the pattern is well formed
	}
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
