package host

import (
	"sync/atomic"
	"time"
)

// Bounds of a measurement of two cores: the fastest of several batches counts, because other programs only
// ever make one slower.
const (
	latencyBatches = 8
	latencyTrips   = 200                   // in a batch
	latencyLimit   = 10 * time.Millisecond // then the cores are too busy to tell
	latencyPairs   = 64                    // of cores, at most
)

// CoreLatency measures the core-to-core latency: how long a cache line takes from the first core that this
// process may use to another and back, the longest of all others. Cores that share a cache take 50 to 100
// ns, others several times that; a virtual machine whose cores are moved changes while it runs. A pair takes
// 0.1 to 1 ms. 0: there is one core, or one is too busy to tell, which is found in 10 ms.
func CoreLatency() time.Duration {
	pairs := corePairs()
	var most time.Duration
	for _, pair := range pairs[:min(len(pairs), latencyPairs)] {
		took := roundTrip(pair)
		if took == 0 {
			return 0
		}
		most = max(most, took)
	}
	return most
}

// cacheLine is a counter that two threads raise in turn, away from all other data.
type cacheLine struct {
	_    [128]byte
	turn atomic.Uint32
	_    [128]byte
}

// roundTrip measures a pair of cores; 0: they are too busy. Its goroutines may end after it.
func roundTrip(pair [2]int) time.Duration {
	var line cacheLine
	var isOver atomic.Bool
	go onCore(pair[1], func() {
		for !isOver.Load() {
			if turn := line.turn.Load(); turn%2 > 0 {
				line.turn.Store(turn + 1)
			}
		}
	})
	result := make(chan time.Duration, 1)
	go onCore(pair[0], func() {
		result <- line.fastest()
		isOver.Store(true)
	})
	select {
	case took := <-result:
		return took
	case <-time.After(2 * latencyLimit): // a thread waits for its core
		isOver.Store(true)
		return 0
	}
}

// fastest returns the time of a round trip in the fastest batch; 0 if no batch has ended in time.
func (l *cacheLine) fastest() time.Duration {
	var least time.Duration
	deadline := time.Now().Add(latencyLimit)
	for range latencyBatches {
		begin := time.Now()
		for range latencyTrips {
			if !l.trip(deadline) {
				return least
			}
		}
		took := time.Since(begin) / latencyTrips
		if least == 0 || took < least {
			least = took
		}
	}
	return least
}

// trip gives the line away and waits for it. It reports whether it came back before the deadline.
func (l *cacheLine) trip(deadline time.Time) bool {
	given := l.turn.Load() + 1
	l.turn.Store(given)
	for spins := 1; l.turn.Load() == given; spins++ {
		if spins%(1<<12) == 0 && time.Now().After(deadline) {
			return false
		}
	}
	return true
}
