package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lockstep/internal/regular"
)

// Note: job folders
//
// A job has a folder of its own on every host, which the console removes when it has fetched the results. An
// agent claims the folder before anything is put there: it holds a lock on a file in it for as long as the
// agent lives, which the system ends with the process, however that ends. A folder that nobody has locked
// is one that was left behind. It goes when its agent ends or another one starts, unless the command of
// the job ran there: its checkpoints and results are kept for a month, to be fetched by hand. Several
// agents may have claimed the same folder, where hosts share their homes.

const (
	ownerFile = ".lockstep-owner"    // is locked, and empty unless the folder holds results
	jobAge    = 30 * 24 * time.Hour  // after which results that nobody has fetched go
	claimTime = 2 * time.Second      // in which somebody who removes what was left must be done
	claimWait = 5 * time.Millisecond // between two attempts
)

// claim makes a job's folder and returns the file that keeps it until it is closed.
func claim(folder string) (*os.File, error) {
	for deadline := time.Now().Add(claimTime); time.Now().Before(deadline); time.Sleep(claimWait) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(filepath.Join(folder, ownerFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removes the folder
		}
		if err != nil {
			return nil, err
		}
		isLocked, err := regular.TryLock(f, true)
		if isCurrent(f) && (isLocked || err != nil) { // without locks nobody removes it either
			return f, nil
		}
		f.Close() // nothing was written
	}
	return nil, fmt.Errorf("agent: %s: another process is removing it", folder)
}

// isCurrent reports whether an open file still has its name.
func isCurrent(f *os.File) bool {
	own, err := f.Stat()
	there, failed := os.Stat(f.Name())
	return err == nil && failed == nil && os.SameFile(own, there)
}

// keepResults lets the folder of a claim stay when its agent is gone.
func keepResults(claim *os.File) error {
	_, err := claim.WriteString("the command of the job ran here\n")
	return err
}

// sweep removes a job's folder that nobody claims and that was used so long ago, if it is of no more use.
func sweep(folder string, unused time.Duration) {
	f, err := os.OpenFile(filepath.Join(folder, ownerFile), os.O_WRONLY, 0)
	if err != nil {
		if unused > jobAge {
			takeAway(folder)
		}
		return
	}
	defer f.Close() // nothing was written
	isFree, err := regular.TryLock(f, false)
	if !isFree && err == nil || !isCurrent(f) {
		return
	}
	info, failed := f.Stat()
	hasResults := err != nil || failed != nil || info.Size() > 0
	if !hasResults || unused > jobAge {
		takeAway(folder)
	}
}

// takeAway removes a folder. It loses its name at once, so that whoever makes one of that name meanwhile
// does not lose theirs. What cannot be removed stays.
func takeAway(folder string) {
	aside, err := os.MkdirTemp(filepath.Dir(folder), "removed-")
	if err != nil {
		return
	}
	os.Rename(folder, filepath.Join(aside, filepath.Base(folder)))
	os.RemoveAll(aside)
}
