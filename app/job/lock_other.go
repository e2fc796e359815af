//go:build !(linux || darwin || freebsd)

package job

import "os"

// lockFolder does nothing: this system's locks are not used.
func lockFolder(path string) (*os.File, error) { return os.Open(path) }

// freeBytes does not know.
func freeBytes(string) (bytes int64, isKnown bool) { return 0, false }
