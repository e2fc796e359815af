package commtest

import (
	"math"
	"runtime"

	"lockstep/internal/alloctest"
)

// Allocations returns the mean number of allocations of a step of rank 0, rounded down: the least of several
// tries after warming up. steps holds each rank's step, which ends when all ranks have finished it.
func Allocations(steps []func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const tries, runs = 3, 20
	done := make(chan struct{})
	for _, step := range steps[1:] {
		go func() {
			for range 1 + tries*runs {
				step()
			}
			done <- struct{}{}
		}()
	}
	steps[0]()
	least := uint64(math.MaxUint64)
	for range tries {
		least = min(least, alloctest.During(runs, steps[0]))
	}
	for range steps[1:] {
		<-done
	}
	return least / runs
}
