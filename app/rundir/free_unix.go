//go:build linux || darwin || freebsd

package rundir

import (
	"syscall"
)

// FreeBytes returns how much may be written to the disk of the directory.
func (d Directory) FreeBytes() (bytes int64, isKnown bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(string(d), &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
