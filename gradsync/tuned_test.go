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

// Other plans are refused where gradients are held back by pieces, and where they do not fit.
func TestReplanRefuses(t *testing.T) {
	segments, order, total := layout()
	plan := commtest.Cut(t, 4, 2)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		c := gradsync.Config{Group: g, Segments: segments, Order: order,
			Pieces: [][]float32{make([]float32, total)}}
		for name, want := range map[string]string{"top-k": "holds back gradients", "powersgd-2": "holds back",
			"auto": "with wire auto", "fp32": "2 pieces, want 1"} {
			c.Wire = wire(t, name)
			s, err := gradsync.New("ddp", c)
			if err != nil {
				return err
			}
			err = s.Replan(plan, slices.Repeat(c.Pieces, 2))
			if err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("wire %s: %v, want %q", name, err, want)
			}
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// All sizes are tried equally often, every step has the same sum as without trials, and all workers
// continue with rank 0's choice, which was fastest there.
func TestTunedBuckets(t *testing.T) {
	const workers, elems = 3, 150_000
	var segments []gradsync.Segment
	for i := range 3 {
		segments = append(segments, gradsync.Segment{Offset: i * elems, Len: elems})
	}
	order := []int{0, 1, 2}
	data := commtest.NewContributions(workers, 3*elems)
	want := data.Tree(0, workers)
	found := make([][]gradsync.Trial, workers)
	plan := commtest.Cut(t, workers, workers)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		pieces := [][]float32{make([]float32, 3*elems)}
		c := gradsync.Config{Group: g, Segments: segments, Order: order, Pieces: pieces}
		s, err := gradsync.NewTuned(c, func(trials []gradsync.Trial) {
			if found[g.Rank()] != nil {
				panic("chosen twice")
			}
			found[g.Rank()] = slices.Clone(trials)
		})
		if err != nil {
			return err
		}
		for step := range 32 {
			copy(pieces[0], data[g.Rank()])
			s.Begin(step)
			for _, param := range order {
				s.Ready(param)
			}
			if err := s.Wait(); err != nil {
				return err
			}
			if i := commtest.Differ(pieces[0], want); i >= 0 {
				return fmt.Errorf("step %d: element %d is %v, want %v", step, i, pieces[0][i], want[i])
			}
			if isDone := found[g.Rank()] != nil; isDone != (step >= 29) {
				return fmt.Errorf("step %d: chosen %v", step, isDone)
			}
		}
		if n := found[g.Rank()][chosen(found[g.Rank()])].Buckets; len(s.Buckets()) != n {
			return fmt.Errorf("%d buckets, want %d", len(s.Buckets()), n)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
		if chosen(found[r]) != chosen(found[0]) {
			t.Errorf("rank %d chose %+v, rank 0 %+v", r, found[r], found[0])
		}
	}
	var sizes, buckets []int
	for i, trial := range found[0] {
		sizes, buckets = append(sizes, trial.BucketBytes), append(buckets, trial.Buckets)
		if trial.Steps != 9 || trial.Seconds <= 0 || trial.Seconds < found[0][chosen(found[0])].Seconds {
			t.Errorf("trial %d: %+v", i, trial)
		}
	}
	if !slices.Equal(sizes, []int{256 << 10, 1 << 20, 12 * elems}) || !slices.Equal(buckets, []int{3, 2, 2}) {
		t.Errorf("sizes %d with %d buckets", sizes, buckets)
	}
}

// chosen returns the number of the trial that won.
func chosen(trials []gradsync.Trial) int {
	return slices.IndexFunc(trials, func(t gradsync.Trial) bool { return t.IsChosen })
}

func TestTunedRefuses(t *testing.T) {
	for _, name := range []string{"top-k", "powersgd-1", "bf16", "auto"} {
		c := gradsync.Config{Wire: wire(t, name)}
		if s, err := gradsync.NewTuned(c, nil); err == nil {
			t.Errorf("%s: %v", name, s)
		} else if !strings.Contains(err.Error(), "do not depend on them") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
