package compute_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"

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

func TestRunDoesEveryPartOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for threads := 1; threads <= 5; threads++ {
		c, err := compute.Open(compute.Config{Threads: threads})
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
		c := kerneltest.Open(t, compute.Plain, threads)
		task := &nothing{}
		if n := alloctest.Least(50, func() { c.Run(task) }); n != 0 {
			t.Errorf("threads %d: %v allocations per Run, want 0", threads, n)
		}
	}
}

type nothing struct{}

func (*nothing) Do(thread, part, parts int) {}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		config compute.Config
		want   string
	}{
		{compute.Config{Threads: -1}, "-1 threads"},
		{compute.Config{Threads: 5000}, "5000 threads"},
		{compute.Config{ISA: compute.ISA(9)}, "isa ISA(9) is not supported"},
	} {
		cpu, err := compute.Open(c.config)
		if err == nil {
			cpu.Close()
			t.Errorf("Open(%+v) worked", c.config)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%+v): %v, want %q in it", c.config, err, c.want)
		}
	}
}

func TestParseISA(t *testing.T) {
	for _, isa := range compute.Supported() {
		got, err := compute.ParseISA(isa.String())
		if err != nil || got != isa {
			t.Errorf("ParseISA(%q) = %v, %v", isa.String(), got, err)
		}
	}
	if _, err := compute.ParseISA("sve"); err == nil {
		t.Error("ParseISA(sve) worked")
	}
}
