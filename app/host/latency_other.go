//go:build !linux

package host

import "runtime"

// corePairs is the one pair on which the system places two threads.
func corePairs() [][2]int {
	if Cores() < 2 {
		return nil
	}
	return make([][2]int, 1)
}

// onCore calls do on a thread, which the system places.
func onCore(_ int, do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	do()
}
