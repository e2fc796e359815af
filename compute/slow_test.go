package compute_test

import (
	"testing"
	"time"

	"lockstep/compute"
)

// spin keeps its thread busy for a while.
type spin struct{ time.Duration }

func (s spin) Do(_, part, parts int) {
	for end := time.Now().Add(s.Duration / time.Duration(parts)); time.Now().Before(end); {
	}
}

// A slowed CPU takes at least its factor of the time its calls need; at full speed again, it does not.
func TestASlowedCPUTakesItsFactor(t *testing.T) {
	const call, calls = 4 * time.Millisecond, 10
	for _, threads := range []int{1, 2} {
		cpu, err := compute.Open(compute.Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		took := func(f func(compute.Task)) time.Duration {
			began := time.Now()
			for range calls {
				f(spin{call})
			}
			return time.Since(began)
		}
		share := func(task compute.Task) { cpu.RunParts(task, threads) }
		fast := min(took(share), took(share), took(share))
		cpu.Slow(4)
		// Other processes may delay the calls, which lets a thread of its own sleep less, but the
		// processor time that it used is slowed in full.
		if slow := took(share); slow < 3*fast/2 {
			t.Errorf("%d threads: %v slowed by 4, %v at full speed", threads, slow, fast)
		}
		if slow := took(cpu.Alone); threads == 1 && slow < 3*fast/2 {
			t.Errorf("alone: %v slowed by 4, %v at full speed", slow, fast)
		}
		cpu.Slow(1)
		if again := min(took(share), took(share), took(share)); again > 2*fast {
			t.Errorf("%d threads: %v at full speed again, %v before", threads, again, fast)
		}
		cpu.Close()
	}
}
