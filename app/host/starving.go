package host

import "time"

// Starving begins to measure for how long a process has work and no core, and returns a function that tells
// it: what its threads waited for other processes, summed over them, and the part of the time that a virtual
// machine's host gave to others of what it could have used. It is next to nothing for a process that waits
// for an event that never comes. A call costs a file read per thread. Where the system does not tell, it is
// 0.
func Starving(pid int) (lost func() time.Duration) {
	began, waited, cores := time.Now(), tasksWaited(pid), CoresNow()
	return func() time.Duration {
		lost := max(0, tasksWaited(pid)-waited) // a thread that ends takes its time with it
		if c := CoresSince(cores); c.Stolen > 0 {
			lost += time.Duration(float64(time.Since(began)) * c.Stolen / (c.Busy + c.Stolen))
		}
		return lost
	}
}
