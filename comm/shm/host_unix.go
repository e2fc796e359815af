//go:build unix && !linux

package shm

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// arenaBytes returns 0: without arenas every message is copied. A file here may occupy its full
// size on disk.
func arenaBytes() int { return 0 }

// nameless returns an empty file whose name is removed.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "lockstep-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// nap is how long sleepFutex sleeps between two polls.
const nap = 50 * time.Microsecond

// sleepFutex sleeps while word is value, at most d.
func sleepFutex(word *atomic.Uint32, value uint32, d time.Duration) {
	for end := time.Now().Add(d); word.Load() == value && time.Now().Before(end); {
		time.Sleep(nap)
	}
}

func wakeFutex(*atomic.Uint32) {}

// process is a peer's process.
type process struct{ pid int }

func watch(pid int) process {
	if pid == os.Getpid() {
		return process{}
	}
	return process{pid}
}

func (p process) isAlive() bool { return p.pid == 0 || unix.Kill(p.pid, 0) != unix.ESRCH }

func (p process) close() {}
