//go:build !linux

package regular

import "os"

// Stamp returns the size of an open file in bytes and when it was modified, in nanoseconds of Unix time.
func Stamp(file *os.File) (size, modified int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), info.ModTime().UnixNano(), nil
}
