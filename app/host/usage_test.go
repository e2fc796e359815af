package host_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"lockstep/app/host"
)

// A meter tells what threads waited for cores and what the runtime's pauses took, of the steps since it did.
func TestMeterTellsWhatIsLost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how long threads waited for a core")
	}
	const span = 100 * time.Millisecond
	threads := 3 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	m := host.NewMeter()
	defer m.Close()
	crowd := func() {
		var all sync.WaitGroup
		for range threads {
			all.Go(func() {
				for start := time.Now(); time.Since(start) < span; {
				}
			})
		}
		all.Wait()
	}
	crowd()
	for range 20 {
		runtime.GC()
	}
	m.Gradient()
	m.Exchange(true)
	time.Sleep(span)
	m.Exchange(false)
	u := m.Step(time.Now(), 0, 0)
	busy := *u.Lost
	time.Sleep(span)
	asleep := *m.Step(time.Now(), 0, 0).Lost
	m.Exchange(true)
	crowd()
	m.Exchange(false)
	if lost := *m.Step(time.Now(), 0, 0).Lost; lost.Exchange < span/2 {
		t.Errorf("three threads per core waited %v in an exchange of %v", lost.Exchange, span)
	}
	m.Step(time.Now(), 0, 0)
	if u := m.Step(time.Now(), 0, 0); u.Lost != nil {
		t.Errorf("%v is told of a step of no time", *u.Lost)
	}
	if busy.Exchange > busy.Delayed/2 || u.Gradient <= 0 || u.Gradient > u.CPU {
		t.Errorf("%v of %v without a core while all slept, %v of %v until then", busy.Exchange, busy.Delayed,
			u.Gradient, u.CPU)
	}
	if busy.Delayed < span || asleep.Delayed > busy.Delayed/2 {
		t.Errorf("three threads per core waited %v together in %v, and %v while all slept", busy.Delayed,
			span, asleep.Delayed)
	}
	if busy.Paused <= 0 || busy.Paused > u.Wall || asleep.Paused > busy.Paused {
		t.Errorf("20 collections paused %v, none %v", busy.Paused, asleep.Paused)
	}
	if n := testing.AllocsPerRun(10, func() { m.Step(time.Now().Add(time.Hour), 0, 0) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
