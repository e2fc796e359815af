package host_test

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"lockstep/app/host"
)

// Threads that want more cores than there are starve; a process that sleeps does not.
func TestStarving(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how long threads waited for a core")
	}
	const span = 300 * time.Millisecond
	threads := 3 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	lost := host.Starving(os.Getpid())
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for start := time.Now(); time.Since(start) < span; {
			}
		})
	}
	all.Wait()
	busy := lost()
	lost = host.Starving(os.Getpid())
	time.Sleep(span)
	if asleep := lost(); busy < span || asleep > busy/2 {
		t.Errorf("three threads per core waited %v together in %v, and %v while all slept", busy, span,
			asleep)
	}
}
