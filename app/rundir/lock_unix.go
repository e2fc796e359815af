//go:build linux || darwin || freebsd

package rundir

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder keeps other processes from using a folder until the file it returns is closed, and
// fails if one does. Where the file system has no locks, it does without.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close() // only opened
		return nil, fmt.Errorf("%s: a run in this directory is still going on", path)
	}
	return f, nil
}

// FreeBytes returns how much may be written to the disk of the directory.
func (d Directory) FreeBytes() (bytes int64, isKnown bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(string(d), &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
