package shm

import (
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arenaBytes returns the size of a rank's arena: 0 where address space or file size is limited. A
// file in memory occupies only the pages that were written.
func arenaBytes() int {
	for _, limit := range []int{unix.RLIMIT_AS, unix.RLIMIT_FSIZE} {
		var r unix.Rlimit
		if err := unix.Getrlimit(limit, &r); err != nil || r.Cur != math.MaxUint64 {
			return 0
		}
	}
	return (2 << 30) * (math.MaxInt >> 62) // 0 on 32 bits
}

// nameless returns an empty file in memory.
func nameless() (*os.File, error) {
	fd, err := unix.MemfdCreate("lockstep", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "shared memory"), nil
}

// Futex operations; without the private flag they reach across processes.
const (
	futexWait = 0
	futexWake = 1
)

// sleepFutex sleeps while word is value, at most d. It may return early.
func sleepFutex(word *atomic.Uint32, value uint32, d time.Duration) {
	t := unix.NsecToTimespec(max(d.Nanoseconds(), 0))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value),
		uintptr(unsafe.Pointer(&t)), 0, 0)
}

// wakeFutex wakes all that sleep on word.
func wakeFutex(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// process is a peer's process. fd is a pidfd, which stays valid when the pid is reused.
type process struct{ pid, fd int }

// watch returns the process with number pid.
func watch(pid int) process {
	if pid == os.Getpid() {
		return process{}
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1 // an old kernel, or the process has ended: isAlive goes by the pid
	}
	return process{pid, fd}
}

// isAlive reports whether the process still runs. A zombie does not.
func (p process) isAlive() bool {
	switch {
	case p.pid == 0:
		return true
	case p.fd < 0:
		return unix.Kill(p.pid, 0) != unix.ESRCH
	}
	poll := [1]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll[:], 0)
	return n == 0 || err != nil
}

func (p process) close() {
	if p.pid != 0 && p.fd >= 0 {
		unix.Close(p.fd)
	}
}
