//go:build cuda && linux && amd64

package gpu_test

import (
	"testing"

	"lockstep/graph/gpu"
	"lockstep/trace"
)

// Marks split the time of the queue among phases, also around passes that are replayed; what lies behind
// trace.Other counts for none, and what was asked for is forgotten.
func TestMarks(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	p := networks[0].kept(t, e)
	pass := func() {
		e.Mark(trace.Forward)
		p.Forward()
		e.Mark(trace.Backward)
		p.Backward(nil)
		e.Mark(trace.Other)
		p.Forward()
	}
	for range 3 { // the second is recorded, the third replayed
		pass()
		took := e.Marked()
		for phase, d := range took {
			isMarked := trace.Phase(phase) == trace.Forward || trace.Phase(phase) == trace.Backward
			if isMarked != (d > 0) {
				t.Errorf("phase %v took %v", trace.Phase(phase), d)
			}
		}
	}
	pass()
	one := e.Marked()
	pass()
	pass()
	two := e.Marked()
	if two[trace.Forward] < one[trace.Forward]/4 {
		t.Errorf("two passes took %v forward, one %v", two[trace.Forward], one[trace.Forward])
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
