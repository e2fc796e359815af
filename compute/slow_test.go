package compute_test

import (
	"runtime"
	"testing"
	"time"

	"lockstep/compute"
)

// spin keeps its threads busy for a while in all.
type spin struct{ time.Duration }

func (s spin) Do(_, part, parts int) {
	for end := time.Now().Add(s.Duration / time.Duration(parts)); time.Now().Before(end); {
	}
}

const slowCall, slowCalls, slowBy = 4 * time.Millisecond, 10, 4

// A slowed CPU of one thread takes at least its factor of the processor time that its calls need, however
// busy the machine is.
func TestASlowedThreadTakesItsFactor(t *testing.T) {
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, call := range []func(compute.Task){cpu.Alone, cpu.Run,
		func(task compute.Task) { cpu.Share(task, 1) }} {
		cpu.Slow(slowBy)
		began, used := time.Now(), compute.ThreadTime()
		for range slowCalls {
			call(spin{slowCall})
		}
		busy, took := compute.ThreadTime()-used, time.Since(began)
		if took < slowBy*busy*9/10 {
			t.Errorf("%v slowed by %d, %v of processor time", took, slowBy, busy)
		}
	}
}

// With several threads a slowed CPU takes its factor of the time of its calls; at full speed it does not
// sleep.
func TestSlowedThreadsTakeTheirFactor(t *testing.T) {
	cpu, err := compute.Open(compute.Config{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	cpu.Slow(slowBy)
	began := time.Now()
	for range slowCalls {
		cpu.RunParts(spin{2 * slowCall}, 2)
	}
	if took, least := time.Since(began), time.Duration(slowBy*slowCalls*slowCall); took < least*9/10 {
		t.Errorf("%v slowed by %d, want at least %v", took, slowBy, least)
	}
	cpu.Slow(100_000)
	cpu.Slow(1)
	began = time.Now()
	cpu.RunParts(spin{slowCall}, 2)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%v at full speed", took)
	}
}
