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

// wantLoss checks that err is a *PeerError about op that names the victim.
func wantLoss(t *testing.T, what string, rank int, err error, op comm.Op, victim int) {
	t.Helper()
	var lost *comm.PeerError
	switch {
	case !errors.As(err, &lost):
		t.Errorf("%s: rank %d got %v, want a *comm.PeerError", what, rank, err)
	case lost.Rank != victim:
		t.Errorf("%s: rank %d blames rank %d, want %d: %v", what, rank, lost.Rank, victim, err)
	case lost.Op != op:
		t.Errorf("%s: rank %d: operation %v, want %v", what, rank, lost.Op, op)
	}
}

// testLostPeer closes one rank's links during each collective.
func testLostPeer(t *testing.T, connect Connect) {
	for _, workers := range []int{2, 3, 4, 7} {
		victim := workers / 2
		plan := Cut(t, workers, workers)
		for _, name := range comm.Algorithms() {
			elems := 300_001 // longer than the links' buffers
			c := comm.Config{Algorithm: name, Timeout: time.Minute}
			var elapsed [maxRanks]time.Duration
			all := newCrew(workers)
			errs := Ranks(t, connect, plan, c, func(g *comm.Group) error {
				pieces := [][]float32{make([]float32, elems)}
				if err := g.AllReduce(pieces[0], pieces); err != nil {
					return fmt.Errorf("before the loss: %w", err)
				}
				all.join(g)
				if g.Rank() == victim {
					all.untilOthersWait(victim)
					return errVictim
				}
				begin := time.Now()
				defer func() { elapsed[g.Rank()] = time.Since(begin) }()
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
				wantLoss(t, what, r, err, comm.AllReduce, victim)
				if elapsed[r] > bound {
					t.Errorf("%s: rank %d took %v, want at most %v", what, r, elapsed[r], bound)
				}
			}
		}
	}
}

var errVictim = errors.New("the victim")

// testLateSurvivor has a rank that enters a collective after a peer was lost in it, while a third
// rank is in the middle of a frame to it that no buffer holds. The late rank must learn from the
// third which rank was lost; and if it never comes, the third must not wait for it.
func testLateSurvivor(t *testing.T, connect Connect) {
	const workers, victim, part = 3, 2, 16 << 20
	bounds := []int{0, part, 2 * part, 3 * part}
	for _, isComing := range []bool{true, false} {
		gone, first := make(chan time.Time, 1), make(chan struct{}) // rank 0 is back
		left := make(chan struct{})
		var elapsed time.Duration
		all := newCrew(workers)
		errs := Ranks(t, connect, Cut(t, workers, workers), comm.Config{}, func(g *comm.Group) error {
			all.join(g)
			switch g.Rank() {
			case 0:
				defer func() { elapsed = time.Since(<-gone); close(first) }()
			case victim:
				all.untilWaits(0) // it is sending
				gone <- time.Now()
				defer close(left)
				return errors.Join(errVictim, g.Close())
			default:
				if <-left; !isComing {
					<-first
				}
			}
			return g.AllGather(make([]byte, bounds[workers]), bounds)
		})
		what := fmt.Sprintf("coming %t", isComing)
		wantLoss(t, what, 0, errs[0], comm.AllGather, victim)
		if isComing {
			wantLoss(t, what, 1, errs[1], comm.AllGather, victim)
		}
		if elapsed > bound {
			t.Errorf("%s: noticed after %v, want at most %v", what, elapsed, bound)
		}
	}
}

// testStuckPeer has one rank that keeps its links open but does nothing.
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
			wantLoss(t, fmt.Sprintf("stuck, %d ranks", workers), r, err, comm.AllReduce, stuck)
		}
	}
}

// testMismatch has one rank that issues another collective or another size: it and the rank that meets it
// say what each was in, and a third, if it learns of it, who reported it.
func testMismatch(t *testing.T, connect Connect) {
	const all = "all-reduce 1 (bucket 0, 40 bytes)"
	tests := []struct {
		name, other string
		issue       func(g *comm.Group) error
	}{
		{"size", "all-reduce 1 (48 bytes)", func(g *comm.Group) error {
			out := [][]float32{make([]float32, 12)}
			return g.AllReduce(out[0], out)
		}},
		{"order", "barrier 1", func(g *comm.Group) error { return g.Barrier() }},
		{"number", "all-reduce 2 (40 bytes)", func(g *comm.Group) error {
			if err := g.Broadcast(make([]byte, 0), g.Rank()); err != nil {
				return err
			}
			out := [][]float32{make([]float32, 10)}
			return g.AllReduce(out[0], out)
		}},
	}
	for _, test := range tests {
		for _, workers := range []int{2, 3} {
			errs := Ranks(t, connect, Cut(t, workers, workers), comm.Config{}, func(g *comm.Group) error {
				if g.Rank() == workers-1 {
					return test.issue(g)
				}
				out := make([]float32, 10)
				return g.Start(comm.Call{Op: comm.AllReduce, Name: "bucket 0", Out: out,
					Pieces: [][]float32{out}}).Wait()
			})
			told := 0
			for r, err := range errs {
				own, other := all, test.other
				if r == workers-1 {
					own, other = other, own
				}
				var mismatch *comm.MismatchError
				var report *comm.ReportError
				switch {
				case errors.As(err, &mismatch) && mismatch.Own == own && mismatch.Peer == other:
					told++
				case workers == 2 || !errors.As(err, &report) || !report.IsMismatch:
					t.Errorf("%s, %d ranks, rank %d: %v, want %q and %q", test.name, workers, r, err, own,
						other)
				}
			}
			if told < 2 {
				t.Errorf("%s, %d ranks: only %d name both: %v", test.name, workers, told, errs)
			}
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

// testCloseWhileWaiting closes a group while a collective waits for a peer.
func testCloseWhileWaiting(t *testing.T, connect Connect) {
	meshes := connect(t, 2)
	g, err := comm.NewGroup(meshes[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	first := g.Start(comm.Call{Op: comm.Barrier})
	second := g.Start(comm.Call{Op: comm.Barrier})
	all := newCrew(1)
	all.join(g)
	all.untilWaits(0)
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

// testCloseWhileReporting closes a group while it reports a loss to a rank that reads nothing.
func testCloseWhileReporting(t *testing.T, connect Connect) {
	meshes := connect(t, 3)
	g, err := comm.NewGroup(meshes[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h := g.Start(comm.Call{Op: comm.Barrier})
	meshes[2].Shutdown()
	time.Sleep(50 * time.Millisecond)
	begin := time.Now()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(begin); d > bound/5 {
		t.Errorf("closed after %v, want at most %v", d, bound/5)
	}
	wantLoss(t, "closed", 0, h.Wait(), comm.Barrier, 2)
	meshes[1].Shutdown()
	for _, m := range meshes[1:] {
		m.Close()
	}
}
