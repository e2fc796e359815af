//go:build linux || darwin || freebsd

package host

import (
	"syscall"
	"time"
)

// Room returns the bytes that this user may still write to the file system of a folder, and its size; 0 and 0
// if unknown.
func Room(folder string) (free, total uint64) {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0, 0
	}
	return uint64(max(0, int64(s.Bavail))) * uint64(s.Bsize), s.Blocks * uint64(s.Bsize)
}

// processTime returns the processor time of all threads of this process so far; 0 if unknown.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
