package gradsync_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// thinner returns a group of one rank that keeps one in a hundred of n elements; with one rank the
// piece holds what is sent.
func thinner(t *testing.T, n int) (gradsync.Strategy, []float32) {
	t.Helper()
	g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	piece := make([]float32, n)
	s, err := gradsync.New("ddp", gradsync.Config{Group: g, Order: []int{0}, Wire: wire(t, "top-k"),
		Segments: []gradsync.Segment{{Len: n}}, Pieces: [][]float32{piece}})
	if err != nil {
		t.Fatal(err)
	}
	return s, piece
}

func step(t *testing.T, s gradsync.Strategy, number int) {
	t.Helper()
	s.Begin(number)
	s.Ready(0)
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Each step sends the largest hundredth of gradient + residual, and nothing is lost: what was sent
// plus the residual is the sum of all gradients so far.
func TestTopKSendsTheLargestAndKeepsTheRest(t *testing.T) {
	const n, keep, steps = 1234, 13, 30
	s, piece := thinner(t, n)
	kept := make([]float32, n) // the residual by definition
	for number := range steps {
		gradient := commtest.NewContributions(number+1, n)[number]
		for i := range gradient {
			kept[i] += gradient[i]
		}
		sizes := make([]float64, n)
		for i, x := range kept {
			sizes[i] = math.Abs(float64(x))
		}
		slices.Sort(sizes)
		copy(piece, gradient)
		step(t, s, number)
		num := 0
		for i, x := range piece {
			want := kept[i]
			if math.Abs(float64(want)) < sizes[n-keep] {
				want = 0
			} else {
				num++
				kept[i] = 0
			}
			if x != want {
				t.Fatalf("step %d: element %d is %v, want %v", number, i, x, want)
			}
		}
		if num != keep {
			t.Fatalf("step %d: %d elements sent, want %d", number, num, keep)
		}
	}
}

// Of equal elements the first are sent, and in later steps the others; a NaN is sent before
// everything else.
func TestTopKOfEqualElements(t *testing.T) {
	s, piece := thinner(t, 300)
	for number := range 100 {
		for i := range piece {
			piece[i] = 0
			if number == 0 {
				piece[i] = float32(1 - i%2*2)
			}
		}
		step(t, s, number)
		for i, x := range piece {
			if isDue := i/3 == number; (x != 0) != isDue {
				t.Fatalf("step %d: element %d is %v", number, i, x)
			}
		}
	}
	piece[299] = float32(math.NaN())
	step(t, s, 100)
	if piece[299] == piece[299] {
		t.Error("a NaN was kept back")
	}
}

// All workers get the same bits, and few bytes travel.
func TestTopKBetweenWorkers(t *testing.T) {
	const workers, shards, elems = 3, 5, 20_000
	plan := commtest.Cut(t, shards, workers)
	data := commtest.NewContributions(shards, elems)
	results := make([][]float32, workers)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		pieces := data.Pieces(g)
		s, err := gradsync.New("ddp", gradsync.Config{Group: g, Wire: wire(t, "top-k"), Order: []int{0},
			Segments: []gradsync.Segment{{Len: elems}}, Pieces: pieces})
		if err != nil {
			return err
		}
		s.Begin(0)
		s.Ready(0)
		if err := s.Wait(); err != nil {
			return err
		}
		results[g.Rank()] = pieces[0]
		total := g.Counters().Total()
		if most := total.Vector / 100 * 3 / 2 * 5; total.Sent > most {
			return fmt.Errorf("%d bytes sent for %d, want at most %d", total.Sent, total.Vector, most)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		} else if i := commtest.Differ(results[r], results[0]); i >= 0 {
			t.Errorf("element %d differs between ranks 0 and %d", i, r)
		}
	}
}
