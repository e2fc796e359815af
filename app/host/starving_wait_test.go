package host

import (
	"testing"
	"time"
)

// A process whose threads are ready and do not run waits, though the system counts that only when it is over.
// One that sleeps, or computes without end, does not.
func TestAWaitThatHasNotEnded(t *testing.T) {
	start := time.Now()
	wait := pendingWait{start, time.Second}
	for i, test := range []struct {
		threads
		after, want int // seconds
	}{
		{threads{ran: time.Second, isReady: true}, 4, 4},
		{threads{ran: time.Second, isReady: true}, 5, 5},
		{threads{ran: time.Second + 1, isReady: true}, 6, 0},
		{threads{ran: time.Second + 1, isReady: true}, 8, 2},
		{threads{ran: time.Second + 1}, 9, 0},
		{threads{ran: time.Second + 1, isReady: true}, 10, 1},
		{threads{ran: 2 * time.Second, isReady: true}, 20, 0},
	} {
		now := start.Add(time.Duration(test.after) * time.Second)
		if got := wait.length(test.threads, now); got != time.Duration(test.want)*time.Second {
			t.Errorf("%d: %v, want %d s", i, got, test.want)
		}
	}
}
