package comm_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lockstep/comm"
	"lockstep/shard"
)

func TestErrorsTellTheStory(t *testing.T) {
	err := error(&comm.PeerError{Rank: 5, Op: comm.AllReduce, Err: comm.ErrTimeout})
	if got, want := err.Error(),
		"comm: all-reduce: peer rank 5: no progress within the time-out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, comm.ErrTimeout) {
		t.Error("the cause is lost")
	}
	err = &comm.PeerError{Rank: 2, Op: comm.Broadcast, Err: &comm.ReportError{From: 1}}
	if got, want := err.Error(), "comm: broadcast: peer rank 2: reported lost by rank 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	err = &comm.FrameError{Field: "length", Got: 12, Want: 8}
	if got, want := err.Error(), "bad frame: length 0xc, want 0x8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An invalid call is refused before anything is sent; the group stays usable.
func TestBadCallsLeaveTheGroupUsable(t *testing.T) {
	g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	four, five := make([]float32, 4), make([]float32, 5)
	tests := []struct {
		err  error
		want string
	}{
		{g.AllReduce(four, [][]float32{five}), "len(out)=4, want 5"},
		{g.AllReduce(four, [][]float32{four, four}), "2 pieces, want 1"},
		{g.Broadcast(nil, 1), "root 1, want 0 to 0"},
		{g.AllGather(make([]byte, 3), []int{0, 4}), "bounds [0 4]"},
		{g.Start(comm.Call{Op: comm.AllReduce, Algorithm: "star", Out: four,
			Pieces: [][]float32{four}}).Wait(), `algorithm "star"`},
	}
	for _, test := range tests {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("got %v, want %q", test.err, test.want)
		}
	}
	if err := g.AllReduce(four, [][]float32{four}); err != nil {
		t.Error(err)
	}
}

func TestConfigsThatDoNotFit(t *testing.T) {
	plan, _ := shard.Cut(4, 4)
	tests := []struct {
		config comm.Config
		want   string
	}{
		{comm.Config{Algorithm: "fastest"}, `algorithm "fastest"`},
		{comm.Config{Plan: plan}, "plan for 4 workers, mesh of 2 ranks"},
	}
	for _, test := range tests {
		_, err := comm.NewGroup(comm.NewLocal(2)[0], test.config)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

func TestAddIsElementwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Float32(), 0, 40).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32(), len(a), len(a)).Draw(t, "b")
		want := make([]float32, len(a))
		for i := range a {
			want[i] = a[i] + b[i]
		}
		comm.Add(a, b)
		for i := range want {
			if a[i] != want[i] {
				t.Fatalf("element %d: %v, want %v", i, a[i], want[i])
			}
		}
	})
}

func ExampleGroup_AllReduce() {
	var all sync.WaitGroup
	for _, mesh := range comm.NewLocal(3) {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, comm.Config{})
			if err != nil {
				return
			}
			defer g.Close()
			gradient := []float32{1, float32(g.Rank())}
			err = g.AllReduce(gradient, [][]float32{gradient})
			if g.Rank() == 0 {
				fmt.Println(gradient, err)
			}
			g.Barrier()
		})
	}
	all.Wait()
	// Output: [3 3] <nil>
}
