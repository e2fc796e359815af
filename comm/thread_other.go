//go:build !linux

package comm

// shortenSlice does nothing on this system.
func shortenSlice() {}

// yieldProcessor does nothing on this system.
func yieldProcessor() {}
