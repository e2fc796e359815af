package commtest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/comm"
)

// testWake wakes a rank at about the time at which it begins to wait, many times. It sleeps through none of
// them.
func testWake(t *testing.T, connect Connect) {
	const calls, limit = 20_000, 10 * time.Second
	meshes := connect(t, 2)
	defer meshes[1].Close()
	defer meshes[0].Close()
	var asked, woken atomic.Int64
	var waking sync.WaitGroup
	waking.Go(func() {
		for call := range int64(calls) {
			for asked.Load() == call {
				runtime.Gosched()
			}
			woken.Add(1)
			meshes[0].Wake()
		}
	})
	defer waking.Wait()
	defer asked.Store(calls)
	for call := range int64(calls) {
		asked.Add(1)
		begin := time.Now()
		for woken.Load() <= call {
			if err := meshes[0].Wait(make([]comm.Direction, 2), 2*limit); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin); d > limit {
			t.Fatalf("woken for the %dth time, slept for %v", call+1, d)
		}
	}
}
