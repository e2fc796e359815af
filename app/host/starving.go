package host

import "time"

// Starving begins to measure for how long a process has work and no core, and returns a function that tells
// it: what its threads waited for other processes, summed over them, and the part of the time that a virtual
// machine's host gave to others of what it could have used. It is next to nothing for a process that waits
// for an event that never comes. A call costs two file reads per thread. Where the system does not tell, it
// is 0.
func Starving(pid int) (lost func() time.Duration) {
	began, was, cores := time.Now(), tasksOf(pid), CoresNow()
	wait := pendingWait{began, was.ran}
	return func() time.Duration {
		now := tasksOf(pid)
		lost := max(0, now.waited-was.waited) // a thread that ends takes its time with it
		lost += wait.length(now, time.Now())
		if c := CoresSince(cores); c.Stolen > 0 {
			lost += time.Duration(float64(time.Since(began)) * c.Stolen / (c.Busy + c.Stolen))
		}
		return lost
	}
}

// threads says of the threads of a process for how long they waited for a core and ran, summed over them, and
// whether one is ready to run, or runs. What one waits is counted when it gets a core, not before.
type threads struct {
	waited, ran time.Duration
	isReady     bool
}

// pendingWait is a wait of all threads of a process for a core: since when, and how long they had run then.
type pendingWait struct {
	since time.Time
	ran   time.Duration
}

// length returns how long the wait has lasted by now; 0 if there is none.
func (w *pendingWait) length(t threads, now time.Time) time.Duration {
	if t.ran != w.ran || !t.isReady {
		*w = pendingWait{now, t.ran}
	}
	return now.Sub(w.since)
}
