// Package alloctest tells the allocations of a call from those of Go's runtime.
//
// The runtime counts allocations of the whole process, its own among them: a first garbage collection makes
// some eight for its workers, a new thread several more, a goroutine that sleeps one now and then. They come
// once. What the code under test allocates comes back in each try.
package alloctest

import (
	"math"
	"runtime"
)

// tries is how often Least calls for a count of 0 before it believes another.
const tries = 8

// Least returns the fewest allocations that the process made while f was called calls times in a row. It
// calls f once before, to warm up, and stops at the first 0. Unlike testing.AllocsPerRun it does not round
// down: one allocation in calls is found. Goroutines share one thread meanwhile, so that what the runtime
// keeps for each thread does not wander between two.
func Least(calls int, f func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
	least := uint64(math.MaxUint64)
	for range tries {
		if least = min(least, During(calls, f)); least == 0 {
			break
		}
	}
	return least
}

// During returns the allocations of the process while it calls f calls times.
func During(calls int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}
