package checkpoint

import (
	"io"
	"os"

	"lockstep/internal/regular"
)

// disk is the file system as a Store uses it. Tests replace it by one whose calls fail.
type disk interface {
	// MakeFolder creates a folder and its parents; it may exist.
	MakeFolder(path string) error
	// Create creates a file, which must not exist.
	Create(path string) (diskFile, error)
	// Rename moves a file or a folder.
	Rename(from, to string) error
	// SyncFolder makes changes of a folder's entries durable.
	SyncFolder(path string) error
	// Remove removes a folder and its contents; it may be missing.
	Remove(path string) error
}

// diskFile is a file being written.
type diskFile interface {
	io.WriteCloser
	// Sync makes what was written durable.
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
