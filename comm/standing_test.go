package comm_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lockstep/comm"
)

// A rank that waits in a collective reports which peer it waits for, in which collective, and how
// many bytes are missing. If the peer is lost, the error says the same.
func TestStandingNamesWhatACollectiveWaitsFor(t *testing.T) {
	var groups [2]*comm.Group
	for rank, mesh := range comm.NewLocal(2) {
		g, err := comm.NewGroup(mesh, comm.Config{Algorithm: "direct"})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		groups[rank] = g
	}
	if s := groups[0].Standing(); s.Wait != nil {
		t.Errorf("an idle group waits: %v", s.Wait)
	}
	vector := [2][]float32{make([]float32, 1000), make([]float32, 1000)}
	start := func(rank int) *comm.Handle {
		return groups[rank].Start(comm.Call{Op: comm.AllReduce, Name: "bucket 2 of 3", Out: vector[rank],
			Pieces: [][]float32{vector[rank]}})
	}
	waits := start(0)
	wait := untilItWaits(t, groups[0])
	want := "(bucket 2 of 3, 4000 bytes; 0 of the next 2000 received)"
	if wait.Peer != 1 || wait.String() != "all-reduce "+want {
		t.Errorf("waits for rank %d: %v; want rank 1: %s", wait.Peer, wait, want)
	}
	before := groups[0].Standing().Moves
	if err := errors.Join(start(1).Wait(), waits.Wait()); err != nil {
		t.Fatal(err)
	}
	if s := groups[0].Standing(); s.Wait != nil || s.Moves <= before {
		t.Errorf("after the collective: %+v, moves before %d", s, before)
	}

	waits = start(0)
	untilItWaits(t, groups[0])
	groups[1].Close()
	err := waits.Wait()
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), ": peer rank 1: EOF "+want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func untilItWaits(t *testing.T, g *comm.Group) *comm.Wait {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for ; time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if w := g.Standing().Wait; w != nil {
			return w
		}
	}
	t.Fatal("the group does not wait")
	return nil
}
