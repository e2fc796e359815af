package train_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"lockstep/trace"
	"lockstep/train"
)

// meter counts the allocations between two steps by the place in the code that made them.
type meter struct {
	from, to int
	places   map[string]int64
}

func (m *meter) Step(s train.Step) {
	switch s.Number {
	case m.from:
		m.places = allocated()
	case m.to:
		for place, before := range m.places {
			m.places[place] = -before
		}
		for place, n := range allocated() {
			if m.places[place] += n; m.places[place] == 0 {
				delete(m.places, place)
			}
		}
	}
}

func (m *meter) Evaluation(train.Evaluation) {}

// measured calls run, with all allocations recorded, and says which ones m saw.
func (m *meter) measured(t *testing.T, what string, run func(m *meter)) {
	t.Helper()
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	run(m)
	if m.places == nil {
		t.Fatalf("%s: no step %d", what, m.from)
	}
	for place, n := range m.places {
		t.Errorf("%s: %d allocations in %d steps, by\n%s", what, n, m.to-m.from, place)
	}
}

// allocated counts the allocations so far by their stacks, but for the runtime's own.
func allocated() map[string]int64 {
	runtime.GC() // the profile shows what was allocated two collections ago
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		panic(fmt.Sprintf("%d places allocate, more than %d", n, len(records)))
	}
	places := make(map[string]int64)
	for _, r := range records[:n] {
		if place, isOurs := where(r.Stack()); isOurs {
			places[place] += r.AllocObjects
		}
	}
	return places
}

// waits are the runtime's functions that allocate for a goroutine that waits, for a thread, a timer, or the
// memory of a type assertion: how often depends on chance and on how busy the machine is.
var waits = []string{"runtime.acquireSudog", "runtime.selectgo", "runtime.malg", "runtime.allocm",
	"runtime.(*timer", "runtime.typeAssert"}

// where writes a stack, and says whether our code allocates there.
func where(stack []uintptr) (place string, isOurs bool) {
	var text strings.Builder
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		isWait := func(w string) bool { return strings.HasPrefix(f.Function, w) }
		switch {
		case slices.ContainsFunc(waits, isWait), strings.HasSuffix(f.Function, "train_test.allocated"):
			return "", false
		case !strings.HasPrefix(f.Function, "runtime."):
			fmt.Fprintf(&text, "\t%s %s:%d\n", f.Function, f.File, f.Line)
		}
	}
	return text.String(), text.Len() > 0
}

func TestSteadyStepAllocatesNothing(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for name, join := range map[string]func(*train.Loop) (train.Updater, error){
			"plain": train.NewLocal, "balanced": balancedLocal} {
			m := &meter{from: 14, to: 38} // the first decision about shards is made before
			m.measured(t, fmt.Sprintf("%s, %d threads", name, threads), func(m *meter) {
				trainRecorded(t, threads, join, m)
			})
		}
	}
}

// balancedLocal is the Updater of one worker that is balanced all the same.
func balancedLocal(l *train.Loop) (train.Updater, error) {
	u, err := train.NewLocal(l)
	if err != nil {
		return nil, err
	}
	return train.NewBalanced(l, u, nil, func(*train.Move) {})
}

// unread is a file that nobody reads.
type unread struct{}

func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) Close() error                { return nil }

// trainRecorded runs 40 steps with a loader, checkpoints and a trace, over the end of several epochs.
func trainRecorded(t *testing.T, threads int, join func(*train.Loop) (train.Updater, error), m *meter) {
	t.Helper()
	c := example(t, "lenet", 100, 0)
	c.Test, c.Steps, c.Checkpointer, c.Updater = nil, 40, &album{}, join
	c.Trace = trace.NewRecorder(0, func() (io.WriteCloser, error) { return unread{}, nil })
	if _, err := aloneOn(t, c, threads).Run(context.Background(), m); err != nil {
		t.Fatal(err)
	}
}
