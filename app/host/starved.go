package host

import "time"

// Starved returns for how long this process had work and no core since it started: what its threads waited
// for other processes, and what a virtual machine's host gave to others, summed over threads and cores. So
// the difference of two calls is at least what a worker lost in between, and next to nothing for one that
// waits for an event that never comes. It costs a file read per thread. Where the system does not tell it
// is 0.
func Starved() time.Duration {
	return tasksWaited() + time.Duration(CoresNow().Stolen*float64(time.Second))
}
