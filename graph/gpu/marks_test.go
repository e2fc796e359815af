//go:build cuda && linux && amd64

package gpu_test

import (
	"testing"
	"time"

	"lockstep/graph/gpu"
	"lockstep/trace"
)

// Marks split the time of the queue among phases, also around passes that are replayed; what lies behind
// trace.Other counts for none, and what was asked for is forgotten.
func TestMarks(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	p := networks[0].kept(t, e)
	forward := func() {
		e.Mark(trace.Forward)
		p.Forward()
	}
	least := time.Hour
	for range 4 { // the second pass is recorded, then it is replayed
		forward()
		e.Mark(trace.Backward)
		p.Backward(nil)
		e.Mark(trace.Other)
		p.Forward()
		took := e.Marked()
		for phase, d := range took {
			isMarked := trace.Phase(phase) == trace.Forward || trace.Phase(phase) == trace.Backward
			if isMarked != (d > 0) {
				t.Errorf("phase %v took %v", trace.Phase(phase), d)
			}
		}
		least = min(least, took[trace.Forward])
	}
	for range 3 {
		forward()
	}
	e.Mark(trace.Other)
	three := e.Marked()
	if took := three[trace.Forward]; took < 2*least || three.Total() != took {
		t.Errorf("three passes took %v, one at least %v", three, least)
	}
	if none := e.Marked(); none != (trace.Phases{}) {
		t.Errorf("without marks: %v", none)
	}
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
}

// Memory that is allocated is in use.
func TestMemoryInUse(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	before := e.MemoryInUse()
	const floats = 1 << 22
	m, err := e.Allocate(floats)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.MemoryInUse() - before; got < 4*floats {
		t.Errorf("%d bytes more in use, want at least %d", got, 4*floats)
	}
	m.Release()
	if rate := e.Peak(); rate != 0 {
		t.Errorf("a peak of %g without cuBLASLt", rate)
	}
}
