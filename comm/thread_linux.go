package comm

import (
	"runtime"
	"syscall"
	"unsafe"
)

// shortenSlice asks the scheduler for a short time slice with an early deadline, where the kernel
// can (Linux 6.12 and later).
//
// The group's thread runs for microseconds at a time beside compute threads that never sleep. With
// a slice of 0.1 ms, the shortest that the kernel allows, it preempts them when data arrives
// instead of waiting for the end of their slice. Measured with two processes that compute on two
// cores: an all-reduce of 215 kB in the background took 0.3 ms instead of 2.1 ms (medians).
func shortenSlice() {
	var number uintptr // of sched_setattr
	switch runtime.GOARCH {
	case "amd64":
		number = 314
	case "arm64":
		number = 274
	default:
		return
	}
	attr := struct {
		size, policy               uint32
		flags                      uint64
		nice                       int32
		priority                   uint32
		runtime, deadline, periods uint64
	}{runtime: 100_000} // policy 0: SCHED_OTHER, unchanged
	attr.size = uint32(unsafe.Sizeof(attr))
	// An older kernel ignores the field or refuses the call, which does no harm.
	syscall.RawSyscall(number, 0, uintptr(unsafe.Pointer(&attr)), 0)
}

// yieldProcessor lets another runnable thread run first, if there is one.
func yieldProcessor() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
