//go:build !(linux || darwin || freebsd)

package rundir

import "os"

// lockFolder does nothing: this system's locks are not used.
func lockFolder(path string) (*os.File, error) { return os.Open(path) }

// FreeBytes does not know.
func (d Directory) FreeBytes() (bytes int64, isKnown bool) { return 0, false }
