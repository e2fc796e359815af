package kernel_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/internal/kernel"

	"go.uber.org/goleak"
)

// tally counts how often each part was done.
type tally struct {
	parts int
	done  [64]int
}

func (t *tally) Do(_, part, parts int) {
	t.done[part]++
	if part == 0 {
		t.parts = parts
	}
}

func open(t testing.TB, isa kernel.ISA, threads int) *kernel.CPU {
	t.Helper()
	c, err := kernel.Open(kernel.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRunDoesEveryPartOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for threads := 1; threads <= 5; threads++ {
		c, err := kernel.Open(kernel.Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 1000 {
			task, parts := &tally{}, 1+round%23
			if round%100 == 99 {
				time.Sleep(2 * time.Millisecond) // let the workers park
			}
			if c.RunParts(task, parts); threads == 1 {
				parts = 1
			}
			for i, n := range task.done {
				if want := min(1, max(0, parts-i)); n != want || task.parts != parts {
					t.Fatalf("threads %d round %d: part %d of %d (%d) done %d times, want %d",
						threads, round, i, parts, task.parts, n, want)
				}
			}
		}
		c.Close()
		c.Close()
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	for _, threads := range []int{1, 3} {
		c := open(t, kernel.Plain, threads)
		task := &nothing{}
		if n := testing.AllocsPerRun(50, func() { c.Run(task) }); n != 0 {
			t.Errorf("threads %d: %v allocations per Run, want 0", threads, n)
		}
	}
}

type nothing struct{}

func (*nothing) Do(thread, part, parts int) {}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		config kernel.Config
		want   string
	}{
		{kernel.Config{Threads: -1}, "-1 threads"},
		{kernel.Config{Threads: 5000}, "5000 threads"},
		{kernel.Config{ISA: kernel.ISA(9)}, "isa ISA(9) is not supported"},
	} {
		cpu, err := kernel.Open(c.config)
		if err == nil {
			cpu.Close()
			t.Errorf("Open(%+v) worked", c.config)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%+v): %v, want %q in it", c.config, err, c.want)
		}
	}
}

func TestParseISA(t *testing.T) {
	for _, isa := range kernel.Supported() {
		got, err := kernel.ParseISA(isa.String())
		if err != nil || got != isa {
			t.Errorf("ParseISA(%q) = %v, %v", isa.String(), got, err)
		}
	}
	if _, err := kernel.ParseISA("neon"); err == nil {
		t.Error("ParseISA(neon) worked")
	}
}

func BenchmarkRun(b *testing.B) {
	c := open(b, kernel.Plain, 2)
	task := &nothing{}
	for b.Loop() {
		c.Run(task)
	}
}
