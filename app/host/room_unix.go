//go:build linux || darwin || freebsd

package host

import (
	"path/filepath"
	"syscall"
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

// Mount returns the folder where the file system of a folder is mounted; the folder itself if it is unknown.
func Mount(folder string) string {
	top, err := filepath.Abs(folder)
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	var own, above syscall.Stat_t
	if err != nil || syscall.Stat(top, &own) != nil {
		return folder
	}
	for top != "/" && syscall.Stat(filepath.Dir(top), &above) == nil && above.Dev == own.Dev {
		top = filepath.Dir(top)
	}
	return top
}
