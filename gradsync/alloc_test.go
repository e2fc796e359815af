//go:build !race

package gradsync_test

import (
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

func TestAStepAllocatesNothing(t *testing.T) {
	for _, form := range []string{"fp32", "top-k", "powersgd-2"} {
		for _, name := range []string{"gather-scatter", "all-reduce", "ddp"} {
			stepAllocatesNothing(t, name, gradsync.Config{Wire: wire(t, form)})
		}
	}
	stepAllocatesNothing(t, "late", gradsync.Config{})
}

func stepAllocatesNothing(t *testing.T, name string, c gradsync.Config) {
	t.Helper()
	segments, order, total := layout()
	c.Segments, c.Order, c.BucketBytes = segments, order, 4096
	steps := make([]func(), 2)
	for r, mesh := range comm.NewLocal(len(steps)) {
		g, err := comm.NewGroup(mesh, comm.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		c.Group, c.Pieces = g, [][]float32{make([]float32, total)}
		s, wait, err := newStep(name, c)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]float32, 2*5)
		steps[r] = func() {
			s.Begin(0)
			s.GatherRows(rows)
			for _, param := range order {
				s.Ready(param)
			}
			if err := wait(); err != nil {
				t.Error(err)
			}
		}
	}
	if name == "late" { // the buckets change their order first
		commtest.Allocations(steps)
	}
	if n := commtest.Allocations(steps); n >= 1 {
		t.Errorf("%s, %v: %v allocations per step, want none", name, c.Wire, n)
	}
}

// newStep returns an exchange and a function that ends its steps.
func newStep(name string, c gradsync.Config) (gradsync.Exchange, func() error, error) {
	if name != "late" {
		s, err := gradsync.New(name, c)
		return s, func() error { return s.Wait() }, err
	}
	s, err := gradsync.NewLate(c)
	return s, func() error {
		err := s.WaitRows()
		for _, param := range c.Order {
			if _, _, failed := s.WaitParam(param); err == nil {
				err = failed
			}
		}
		return err
	}, err
}
