package rundir

import (
	"fmt"
	"os"

	"lockstep/internal/regular"
)

// IsGoingOn reports whether a process uses the directory. Where the file system has no locks, it is not
// known, and false.
func (d Directory) IsGoingOn() bool {
	f, err := os.Open(string(d))
	if err != nil {
		return false
	}
	defer f.Close() // only opened
	isLocked, err := regular.TryLock(f, false)
	return !isLocked && err == nil
}

// lockFolder keeps other processes from using a folder until the file it returns is closed, and
// fails if one does. Where the file system has no locks, it does without.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if isLocked, err := regular.TryLock(f, false); !isLocked && err == nil {
		f.Close() // only opened
		return nil, fmt.Errorf("%s: a run in this directory is still going on", path)
	}
	return f, nil
}
