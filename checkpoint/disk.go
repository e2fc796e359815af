package checkpoint

import (
	"io"
	"os"

	"lockstep/internal/regular"
)

// disk is what a Store does to the file system. Tests have one whose calls fail.
type disk interface {
	// MakeFolder creates a folder and its parents; it may be there.
	MakeFolder(path string) error
	// Create creates a file that is not there.
	Create(path string) (diskFile, error)
	// Rename moves a file or a folder.
	Rename(from, to string) error
	// SyncFolder makes what has happened to a folder's entries last.
	SyncFolder(path string) error
	// Remove removes a folder with all it holds; it may be absent.
	Remove(path string) error
}

// diskFile is a file that is being written.
type diskFile interface {
	io.WriteCloser
	// Sync makes what was written last.
	Sync() error
}

// system is the operating system's disk.
type system struct{}

// MakeFolder implements disk.
func (system) MakeFolder(path string) error { return os.MkdirAll(path, 0o777) }

// Create implements disk.
func (system) Create(path string) (diskFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// Rename implements disk.
func (system) Rename(from, to string) error { return os.Rename(from, to) }

// SyncFolder implements disk.
func (system) SyncFolder(path string) error { return regular.SyncFolder(path) }

// Remove implements disk.
func (system) Remove(path string) error { return os.RemoveAll(path) }
