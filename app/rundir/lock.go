package rundir

import (
	"fmt"
	"os"
	"time"

	"lockstep/internal/regular"
)

// IsGoingOn reports whether a process uses the directory. Where the file system has no locks, it is not
// known, and false.
func (d Directory) IsGoingOn() bool {
	f, err := os.Open(string(d))
	if err != nil {
		return false
	}
	defer f.Close()                           // only opened
	isLocked, err := regular.TryLock(f, true) // others may look at the same time
	return !isLocked && err == nil
}

// lookTime is more than IsGoingOn holds a lock.
const lookTime = 200 * time.Millisecond

// lockFolder keeps other processes from using a folder until the file it returns is closed, and
// fails if one does. Where the file system has no locks, it does without.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lookTime); ; time.Sleep(lookTime / 20) {
		isLocked, err := regular.TryLock(f, false)
		if isLocked || err != nil {
			return f, nil
		}
		if time.Now().After(deadline) {
			f.Close() // only opened
			return nil, fmt.Errorf("%s: a run in this directory is still going on", path)
		}
	}
}
