package commtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"lockstep/comm"
)

// bound is how long a survivor may take to learn that a peer has ended.
const bound = 2 * time.Second

// wantLoss checks that err is a *PeerError about another rank and op.
func wantLoss(t *testing.T, what string, rank int, err error, op comm.Op) {
	t.Helper()
	var lost *comm.PeerError
	switch {
	case !errors.As(err, &lost):
		t.Errorf("%s: rank %d got %v, want a *comm.PeerError", what, rank, err)
	case lost.Rank == rank:
		t.Errorf("%s: rank %d blames itself: %v", what, rank, err)
	case lost.Op != op:
		t.Errorf("%s: rank %d: operation %v, want %v", what, rank, lost.Op, op)
	}
}

// testLostPeer closes one rank's links in the middle of each collective.
func testLostPeer(t *testing.T, connect Connect) {
	for _, workers := range []int{2, 3, 4, 7} {
		victim := workers / 2
		plan := Cut(t, workers, workers)
		for _, name := range comm.Algorithms() {
			elems := 300_001 // longer than the links' buffers
			if name == "one-shot" {
				elems = 8000 // what it is for: see its comment
			}
			c := comm.Config{Algorithm: name, Timeout: time.Minute}
			var elapsed [maxRanks]time.Duration
			errs := Ranks(t, connect, plan, c, func(g *comm.Group) error {
				pieces := [][]float32{make([]float32, elems)}
				if err := g.AllReduce(pieces[0], pieces); err != nil {
					return fmt.Errorf("before the loss: %w", err)
				}
				begin := time.Now()
				defer func() { elapsed[g.Rank()] = time.Since(begin) }()
				if g.Rank() == victim {
					time.Sleep(20 * time.Millisecond) // the others are waiting by now
					return errVictim
				}
				err := g.AllReduce(pieces[0], pieces)
				if again := g.Barrier(); err != nil && !errors.Is(again, err) {
					return fmt.Errorf("after %w the group said %w", err, again)
				}
				return err
			})
			for r, err := range errs {
				if r == victim {
					continue
				}
				what := fmt.Sprintf("%s, %d ranks", name, workers)
				wantLoss(t, what, r, err, comm.AllReduce)
				var lost *comm.PeerError
				if errors.As(err, &lost) && lost.Rank != victim {
					t.Errorf("%s: rank %d blames rank %d, want %d: %v", what, r, lost.Rank, victim, err)
				}
				if elapsed[r] > bound {
					t.Errorf("%s: rank %d took %v, want at most %v", what, r, elapsed[r], bound)
				}
			}
		}
	}
}

var errVictim = errors.New("the victim")

// testStuckPeer has one rank that keeps its links open and does nothing.
func testStuckPeer(t *testing.T, connect Connect) {
	const timeout = 150 * time.Millisecond
	for _, workers := range []int{2, 5} {
		stuck := workers - 1
		release := make(chan struct{})
		survivors := make(chan struct{}, workers)
		go func() {
			defer close(release)
			for range workers - 1 {
				<-survivors
			}
		}()
		begin := time.Now()
		errs := Ranks(t, connect, Cut(t, workers, workers), comm.Config{Timeout: timeout},
			func(g *comm.Group) error {
				if g.Rank() == stuck {
					<-release
					return errVictim
				}
				defer func() { survivors <- struct{}{} }()
				out := [][]float32{make([]float32, 1000)}
				return g.AllReduce(out[0], out)
			})
		if d := time.Since(begin); d < timeout || d > timeout+bound {
			t.Errorf("%d ranks: noticed after %v, want %v to %v", workers, d, timeout, timeout+bound)
		}
		for r, err := range errs[:stuck] {
			wantLoss(t, fmt.Sprintf("stuck, %d ranks", workers), r, err, comm.AllReduce)
			var lost *comm.PeerError
			if errors.As(err, &lost) && lost.Rank != stuck {
				t.Errorf("%d ranks: rank %d blames rank %d, want %d", workers, r, lost.Rank, stuck)
			}
		}
	}
}

// testMismatch has one rank that issues another collective, or one of another size.
func testMismatch(t *testing.T, connect Connect) {
	tests := []struct {
		name, field string
		other       func(g *comm.Group) error
	}{
		{"size", "length", func(g *comm.Group) error {
			out := [][]float32{make([]float32, 12)}
			return g.AllReduce(out[0], out)
		}},
		{"order", "type", func(g *comm.Group) error { return g.Barrier() }},
	}
	for _, test := range tests {
		errs := Ranks(t, connect, Cut(t, 2, 2), comm.Config{}, func(g *comm.Group) error {
			if g.Rank() == 1 {
				return test.other(g)
			}
			out := [][]float32{make([]float32, 10)}
			return g.AllReduce(out[0], out)
		})
		found := false
		for _, err := range errs {
			var frame *comm.FrameError
			found = found || errors.As(err, &frame) && frame.Field == test.field
			if err == nil {
				t.Errorf("%s: a rank did not notice: %v", test.name, errs)
			}
		}
		if !found {
			t.Errorf("%s: no rank names the field %q: %v", test.name, test.field, errs)
		}
	}
}

// testGeneration mixes two generations.
func testGeneration(t *testing.T, connect Connect) {
	meshes := connect(t, 2)
	errs := make(chan error, len(meshes))
	for r, mesh := range meshes {
		go func() {
			g, err := comm.NewGroup(mesh, comm.Config{Generation: uint32(7 + r)})
			if err == nil {
				err = g.Barrier()
				g.Close()
			}
			errs <- err
		}()
	}
	found := false
	for range meshes {
		err := <-errs
		var frame *comm.FrameError
		found = found || errors.As(err, &frame) && frame.Field == "generation"
		if err == nil {
			t.Error("a rank did not notice the other generation")
		}
	}
	if !found {
		t.Error("no rank names the generation")
	}
}

// testCloseWhileWaiting closes a group of which a collective waits for a peer.
func testCloseWhileWaiting(t *testing.T, connect Connect) {
	meshes := connect(t, 2)
	g, err := comm.NewGroup(meshes[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	first := g.Start(comm.Call{Op: comm.Barrier})
	second := g.Start(comm.Call{Op: comm.Barrier})
	time.Sleep(10 * time.Millisecond)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, h := range []*comm.Handle{first, second} {
		if err := h.Wait(); !errors.Is(err, comm.ErrClosed) {
			t.Errorf("got %v, want comm.ErrClosed", err)
		}
	}
	if err := g.Barrier(); !errors.Is(err, comm.ErrClosed) {
		t.Errorf("after Close: got %v, want comm.ErrClosed", err)
	}
	meshes[1].Shutdown()
	meshes[1].Close()
}
