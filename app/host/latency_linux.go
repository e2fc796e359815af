package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// corePairs pairs the first core that this process may use with each of the others.
func corePairs() (pairs [][2]int) {
	var allowed unix.CPUSet
	if Cores() < 2 || unix.SchedGetaffinity(0, &allowed) != nil {
		return nil
	}
	first := -1
	for core, found := 0, 0; found < allowed.Count(); core++ {
		if !allowed.IsSet(core) {
			continue
		}
		if found++; first < 0 {
			first = core
			continue
		}
		pairs = append(pairs, [2]int{first, core})
	}
	return pairs
}

// onCore calls do on a core, if the system allows it, and gives its thread back as it was.
func onCore(core int, do func()) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(core)
	if unix.SchedGetaffinity(0, &before) == nil && unix.SchedSetaffinity(0, &one) == nil {
		defer func() {
			if unix.SchedSetaffinity(0, &before) == nil {
				runtime.UnlockOSThread()
			} // else the thread ends with its goroutine
		}()
	} else {
		defer runtime.UnlockOSThread() // the system places the thread
	}
	do()
}
