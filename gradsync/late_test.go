package gradsync_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// Sums that arrive after WaitRows have the same bits in whatever order they are waited for, also
// after the buckets change their order, which is the same on all ranks.
func TestLateSums(t *testing.T) {
	segments, order, total := layout()
	for workers := 1; workers <= 4; workers++ {
		plan := commtest.Cut(t, 5, workers)
		data := commtest.NewContributions(5, total)
		want := data.Tree(0, 5)
		orders := make([][]int, workers)
		errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
			pieces := data.Pieces(g)
			s, err := gradsync.NewLate(gradsync.Config{Group: g, Segments: segments, Order: order,
				Pieces: pieces, BucketBytes: 512,
				Wire: wire(t, []string{"fp32", "zstd"}[workers%2])})
			if err != nil {
				return err
			}
			defer s.Close()
			for step := range 14 {
				for i, p := range data.Pieces(g) {
					copy(pieces[i], p)
				}
				if err := lateStep(s, step, plan.Shards()); err != nil {
					return err
				}
				for param, seg := range segments {
					sum := pieces[0][seg.Offset : seg.Offset+seg.Len]
					if i := commtest.Differ(sum, want[seg.Offset:][:seg.Len]); i >= 0 {
						return fmt.Errorf("step %d, parameter %d: %v, want %v", step, param, sum[i],
							want[seg.Offset+i])
					}
				}
			}
			orders[g.Rank()] = gradsync.StartOrder(s)
			return nil
		})
		for r, err := range errs {
			if err != nil {
				t.Fatalf("%d workers, rank %d: %v", workers, r, err)
			}
			if !slices.Equal(orders[r], orders[0]) {
				t.Errorf("%d workers: rank %d starts %v, rank 0 %v", workers, r, orders[r], orders[0])
			}
		}
	}
}

// lateStep makes a step and waits for every sum once, beginning with another parameter in each
// step.
func lateStep(s *gradsync.Late, step, shards int) error {
	_, order, total := layout()
	s.Begin(step)
	s.GatherRows(make([]float32, shards))
	for _, param := range order {
		s.Ready(param)
	}
	if err := s.WaitRows(); err != nil {
		return err
	}
	isCovered := make([]bool, total)
	for i := range 11 {
		wait := s.WaitNext
		if i < 2 {
			wait = func() (lo, hi int, err error) { return s.WaitParam(step % len(order)) }
		}
		lo, hi, err := wait()
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			if isCovered[i] {
				return fmt.Errorf("step %d: element %d was returned twice", step, i)
			}
			isCovered[i] = true
		}
	}
	for _, b := range s.Buckets() {
		if b.Steps != step+1 || b.Lo < b.Hi && (!isCovered[b.Lo] || !isCovered[b.Hi-1]) {
			return fmt.Errorf("step %d: bucket [%d,%d) was not returned", step, b.Lo, b.Hi)
		}
	}
	return nil
}

// Buckets that begin during backward keep their place; the others start in forward order.
func TestStartOrder(t *testing.T) {
	segments, order, total := layout()
	errs := commtest.Ranks(t, local, commtest.Cut(t, 2, 2), comm.Config{}, func(g *comm.Group) error {
		s, err := gradsync.NewLate(gradsync.Config{Group: g, Segments: segments, Order: order,
			Pieces: [][]float32{make([]float32, total)}, BucketBytes: 512})
		if err != nil {
			return err
		}
		defer s.Close()
		for step := range 9 {
			if err := lateStep(s, step, 2); err != nil {
				return err
			}
		}
		gradsync.SetBegun(s, 2)
		if err := lateStep(s, 9, 2); err != nil {
			return err
		}
		first := gradsync.StartOrder(s)
		if err := lateStep(s, 10, 2); err != nil {
			return err
		}
		in, out := []int{0, 1, 2, 3}, []int{0, 1, 3, 2}
		if got := gradsync.StartOrder(s); !slices.Equal(first, in) || !slices.Equal(got, out) {
			return fmt.Errorf("order %v, then %v, want %v, then %v", first, got, in, out)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// Sharded and late exchanges refuse wires with error feedback.
func TestErrorFeedbackIsRefused(t *testing.T) {
	segments, order, total := layout()
	errs := commtest.Ranks(t, local, commtest.Cut(t, 1, 1), comm.Config{}, func(g *comm.Group) error {
		for _, c := range []gradsync.Config{{Wire: wire(t, "top-k")}, {Wire: wire(t, "powersgd-1")},
			{Wire: wire(t, "auto")}} {
			c.Group, c.Segments, c.Order = g, segments, order
			c.Pieces = [][]float32{make([]float32, total)}
			_, late := gradsync.NewLate(c)
			_, sharded := gradsync.NewSharded(c)
			for _, err := range []error{late, sharded} {
				if err == nil || !strings.Contains(err.Error(), "want no error feedback") {
					return fmt.Errorf("%v: %v", c.Wire, err)
				}
			}
		}
		return nil
	})
	if errs[0] != nil {
		t.Error(errs[0])
	}
}
