package gradsync_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// one returns a strategy of a group of one worker whose parameters have the given lengths and
// become final in order of their number.
func one(t *testing.T, name string, bucketBytes int, lens ...int) gradsync.Strategy {
	t.Helper()
	g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	c := gradsync.Config{Group: g, BucketBytes: bucketBytes}
	total := 0
	for param, n := range lens {
		c.Segments = append(c.Segments, gradsync.Segment{Offset: total, Len: n})
		c.Order = append(c.Order, param)
		total += n
	}
	c.Pieces = [][]float32{make([]float32, total)}
	s, err := gradsync.New(name, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuckets(t *testing.T) {
	tests := []struct {
		name        string
		bucketBytes int
		lens        []int
		want        [][]int // parameters of each bucket
	}{
		{"all-reduce", 0, []int{3, 0, 5}, [][]int{{0}, {1}, {2}}},
		{"gather-scatter", 4000, []int{3, 0, 5}, [][]int{{0}, {1}, {2}}},
		// edge 1000 bytes, limit 4000 bytes; the last two parameters fit in the edge
		{"ddp", 4000, []int{100, 200, 500, 500, 500, 50, 50}, [][]int{{0, 1}, {2, 3}, {4}, {5, 6}}},
		{"ddp", 4000, []int{10, 20}, [][]int{{0, 1}}},
		{"ddp", 4000, []int{5000, 10, 5000}, [][]int{{0}, {1, 2}}},
		{"ddp", 0, []int{10, 60_000, 10, 2_000_000, 10}, [][]int{{0, 1, 2, 3}, {4}}},
	}
	for _, test := range tests {
		var got [][]int
		at := 0
		for _, b := range one(t, test.name, test.bucketBytes, test.lens...).Buckets() {
			got = append(got, b.Params)
			if b.Lo != at {
				t.Errorf("%s %v: bucket at %d, want %d", test.name, test.lens, b.Lo, at)
			}
			at = b.Hi
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s %v: buckets %v, want %v", test.name, test.lens, got, test.want)
		}
	}
}

// Bytes match the formula. An exchange during a long backward is hidden; one after it, and the last
// bucket of any strategy, is exposed.
func TestBucketsCountBytesAndTime(t *testing.T) {
	const elems, steps, backward = 70_000, 3, 50 * time.Millisecond
	plan := commtest.Cut(t, 2, 2)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		for _, name := range []string{"ddp", "all-reduce"} {
			s, err := gradsync.New(name, gradsync.Config{Group: g, Order: []int{0, 1},
				Segments: []gradsync.Segment{{Len: elems}, {Offset: elems, Len: elems}},
				Pieces:   [][]float32{make([]float32, 2*elems)}})
			if err != nil {
				return err
			}
			for step := range steps {
				s.Begin(step)
				s.Ready(0)
				time.Sleep(backward)
				s.Ready(1)
				if err := s.Wait(); err != nil {
					return err
				}
			}
			b := s.Buckets()[0]
			want := int64(steps * 4 * comm.Theory("direct", comm.OneHost(2), 0, elems).Sent)
			if b.Steps != steps || b.Sent != want || b.Received != want {
				return fmt.Errorf("%s: %+v, want %d steps, %d bytes", name, b, steps, want)
			}
			if isHidden := b.Hidden > b.Exposed; isHidden != (name == "ddp") {
				return fmt.Errorf("%s: hidden %v, exposed %v", name, b.Hidden, b.Exposed)
			}
			if last := s.Buckets()[1]; last.Hidden > 0 || last.Exposed == 0 {
				return fmt.Errorf("%s: last bucket hidden %v, exposed %v", name, last.Hidden,
					last.Exposed)
			}
		}
		return nil
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestConfigsThatDoNotFit(t *testing.T) {
	g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	four := [][]float32{make([]float32, 4)}
	segments := []gradsync.Segment{{Offset: 0, Len: 2}, {Offset: 2, Len: 2}}
	tests := []struct {
		name   string
		config gradsync.Config
		want   string
	}{
		{"dpd", gradsync.Config{}, `strategy "dpd", want one of gather-scatter`},
		{"ddp", gradsync.Config{}, "no group"},
		{"ddp", gradsync.Config{Group: g}, "0 pieces, want 1"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Algorithm: "x"}, `algorithm "x"`},
		{"ddp", gradsync.Config{Group: g, Pieces: four, BucketBytes: -1}, "bucket of -1 bytes"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Segments: segments, Order: []int{0}},
			"order of 1 parameters, want 2"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Algorithm: "tree", Wire: wire(t, "int8")},
			"would round again"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Order: []int{0},
			Segments: []gradsync.Segment{{Len: 4, Rows: 2, Cols: 3}}}, "matrix of 2 x 3 in 4 elements"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Segments: segments, Order: []int{0, 0}},
			"not a permutation"},
		{"ddp", gradsync.Config{Group: g, Pieces: four, Segments: segments, Order: []int{1, 0}},
			"parameter 0 at offset 0, want at least 4"},
		{"ddp", gradsync.Config{Group: g, Pieces: [][]float32{{0}}, Segments: segments,
			Order: []int{0, 1}}, "len(pieces[0])=1, want 4"},
	}
	for _, test := range tests {
		if _, err := gradsync.New(test.name, test.config); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// A lost peer ends the step with an error that names the peer and the bucket.
func TestLostPeer(t *testing.T) {
	plan := commtest.Cut(t, 3, 3)
	victim := errors.New("the victim")
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		if g.Rank() == 1 {
			return victim
		}
		s, err := gradsync.New("ddp", gradsync.Config{Group: g, Order: []int{0},
			Segments: []gradsync.Segment{{Len: 10}}, Pieces: [][]float32{make([]float32, 10)}})
		if err != nil {
			return err
		}
		s.Begin(0)
		s.Ready(0)
		return s.Wait()
	})
	for r, err := range errs {
		var lost *comm.PeerError
		const what = "(bucket 1 of 1, 40 bytes"
		if r != 1 && (!errors.As(err, &lost) || !strings.Contains(err.Error(), what)) {
			t.Errorf("rank %d got %v", r, err)
		}
	}
}
