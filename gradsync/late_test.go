package gradsync_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// Sums that come after Wait are those that come in it, in whatever order they are asked for, also once the
// buckets take their turns, which are the same on all ranks.
func TestLateSums(t *testing.T) {
	segments, order, total := layout()
	for workers := 1; workers <= 4; workers++ {
		plan := commtest.Cut(t, 5, workers)
		data := commtest.NewContributions(5, total)
		want := data.Tree(0, 5)
		turns := make([][]int, workers)
		errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
			c, err := codec.New([]string{"fp32", "zstd"}[workers%2])
			if err != nil {
				return err
			}
			pieces := data.Pieces(g)
			s, err := gradsync.New("ddp", gradsync.Config{Group: g, Segments: segments, Order: order,
				Pieces: pieces, BucketBytes: 512, Codec: c, Late: true})
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
			turns[g.Rank()] = gradsync.Turns(s)
			return nil
		})
		for r, err := range errs {
			if err != nil {
				t.Fatalf("%d workers, rank %d: %v", workers, r, err)
			}
			if !slices.Equal(turns[r], turns[0]) {
				t.Errorf("%d workers: rank %d starts %v, rank 0 %v", workers, r, turns[r], turns[0])
			}
		}
	}
}

// lateStep makes a step and takes every sum once, and one of them first, which differs from step to step.
func lateStep(s gradsync.Strategy, step, shards int) error {
	_, order, total := layout()
	s.Begin(step)
	s.Share(make([]float32, shards))
	for _, param := range order {
		s.Ready(param)
	}
	if err := s.Wait(); err != nil {
		return err
	}
	isCovered := make([]bool, total)
	for _, param := range []int{step % len(order), step % len(order), -1, -1, -1, -1, -1, -1, -1, -1, -1} {
		lo, hi, err := s.Summed(param)
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			if isCovered[i] {
				return fmt.Errorf("step %d: element %d came twice", step, i)
			}
			isCovered[i] = true
		}
	}
	for _, b := range s.Buckets() {
		if b.Steps != step+1 || b.Lo < b.Hi && (!isCovered[b.Lo] || !isCovered[b.Hi-1]) {
			return fmt.Errorf("step %d: bucket [%d,%d) has not come", step, b.Lo, b.Hi)
		}
	}
	return nil
}

// What has begun while backward went on keeps its place; then comes what the next forward pass reads first.
func TestTurns(t *testing.T) {
	segments, order, total := layout()
	errs := commtest.Ranks(t, local, commtest.Cut(t, 2, 2), comm.Config{}, func(g *comm.Group) error {
		s, err := gradsync.New("ddp", gradsync.Config{Group: g, Segments: segments, Order: order,
			Pieces: [][]float32{make([]float32, total)}, BucketBytes: 512, Late: true})
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
		first := gradsync.Turns(s)
		if err := lateStep(s, 10, 2); err != nil {
			return err
		}
		in, out := []int{0, 1, 2, 3}, []int{0, 1, 3, 2}
		if got := gradsync.Turns(s); !slices.Equal(first, in) || !slices.Equal(got, out) {
			return fmt.Errorf("turns %v, then %v, want %v, then %v", first, got, in, out)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func TestLateRefuses(t *testing.T) {
	segments, order, total := layout()
	errs := commtest.Ranks(t, local, commtest.Cut(t, 1, 1), comm.Config{}, func(g *comm.Group) error {
		for name, c := range map[string]gradsync.Config{
			"all-reduce": {}, "ddp": {Sharded: true}, "ddp ": {TopK: true}, "ddp  ": {Rank: 1},
		} {
			c.Group, c.Segments, c.Order, c.Late = g, segments, order, true
			c.Pieces = [][]float32{make([]float32, total)}
			_, err := gradsync.New(strings.TrimSpace(name), c)
			if err == nil || !strings.Contains(err.Error(), "late, want") {
				return fmt.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if errs[0] != nil {
		t.Error(errs[0])
	}
}
