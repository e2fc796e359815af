package regular

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Note: temporary names
//
// Every temporary file or folder has a name of temporaryPrefix, what it is for, and a random part. The
// process that makes it has a lock on it for as long as it lives. Whoever makes one removes those in the same
// folder that nobody has locked: their processes were killed. Where the file system has no locks, they stay.

// temporaryPrefix begins all temporary names.
const temporaryPrefix = ".lockstep-"

// IsTemporary reports whether a file of this name is temporary: somebody is at it, or was killed.
func IsTemporary(name string) bool {
	rest, isOurs := strings.CutPrefix(name, temporaryPrefix)
	at := len(rest) - len(rand.Text())
	return isOurs && at > 0 && rest[at-1] == '-'
}

// errSwept is the error of a create whose folder a sweep removed before it was opened.
var errSwept = errors.New("removed by a sweep")

// temporary creates a file or a folder with a new name in folder, by create, and locks it.
func temporary(folder, what string, create func(path string) (*os.File, error)) (*os.File, error) {
	sweep(folder)
	for {
		path := filepath.Join(folder, temporaryPrefix+what+"-"+rand.Text())
		f, err := create(path)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, errSwept) {
			continue
		}
		if err != nil {
			return nil, err
		}
		isLocked, err := TryLock(f, false)
		is, _ := f.Stat()
		at, failed := os.Lstat(path)
		if (isLocked || err != nil) && failed == nil && os.SameFile(is, at) {
			return f, nil
		}
		f.Close() // a sweep was faster than the lock
	}
}

// sweep removes from folder what processes have left that were killed.
func sweep(folder string) {
	entries, _ := os.ReadDir(folder) // what cannot be read or removed stays
	for _, e := range entries {
		if !IsTemporary(e.Name()) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if isLocked, err := TryLock(f, false); isLocked && err == nil {
			os.RemoveAll(path)
		}
		f.Close() // only locked
	}
}

// MakeFolder creates a temporary folder in the folder parent, "" for the system's, and returns its path and a
// function that removes it. One that a killed process leaves is removed when another is made in parent.
func MakeFolder(parent, what string) (path string, remove func() error, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	f, err := temporary(parent, what, func(path string) (*os.File, error) {
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errSwept
		}
		return f, err
	})
	if err != nil {
		return "", nil, err
	}
	return f.Name(), func() error { return errors.Join(os.RemoveAll(f.Name()), f.Close()) }, nil
}
