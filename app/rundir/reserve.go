package rundir

import (
	"fmt"
	"os"
)

// Reserve creates path, or takes it if it is an empty folder, for the results of a run on another machine,
// and keeps others from it until release is called, which removes what was created if it is still empty.
// The error is a *FolderError.
func Reserve(path string) (release func(), err error) {
	d := Claimed{Directory: Directory(path), made: absent(path)}
	refuse := func(format string, args ...any) (func(), error) {
		d.Unlock()
		d.unmake()
		return nil, &FolderError{"out", fmt.Sprintf(format, args...)}
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return refuse("cannot create the folder of results: %v", err)
	}
	if d.lock, err = lockFolder(path); err != nil {
		return refuse("%v", err)
	}
	entries, err := os.ReadDir(path) // of two that start together, the one that holds the lock looks
	if err != nil {
		return refuse("cannot read the folder of results: %v", err)
	}
	if len(entries) > 0 {
		return refuse("%s is not empty: it holds %s; give a new folder", path, entries[0].Name())
	}
	return func() {
		d.unmake()
		d.Unlock()
	}, nil
}
