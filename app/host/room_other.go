//go:build !(linux || darwin || freebsd)

package host

// Room is not known here.
func Room(string) (free, total uint64) { return 0, 0 }

// Mount does not know where the file system of a folder is mounted.
func Mount(folder string) string { return folder }
