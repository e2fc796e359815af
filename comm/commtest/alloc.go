package commtest

import "testing"

// Allocations returns the mean number of allocations of a step of rank 0, after warming up. steps
// holds each rank's step, which ends when all ranks have finished it.
func Allocations(steps []func()) float64 {
	const runs = 20
	done := make(chan struct{})
	for _, step := range steps[1:] {
		go func() {
			for range runs + 2 { // the first, and one to warm up
				step()
			}
			done <- struct{}{}
		}()
	}
	steps[0]()
	n := testing.AllocsPerRun(runs, steps[0])
	for range steps[1:] {
		<-done
	}
	return n
}
