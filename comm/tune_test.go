package comm_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// All ranks of a tuned group make the same choices, all of exact algorithms, and tuning is not
// counted.
func TestTune(t *testing.T) {
	for workers := 1; workers <= 6; workers++ {
		for _, hosts := range []comm.Topology{comm.OneHost(workers), commtest.Pairs(workers)} {
			const elems = 3 << 10
			plan := commtest.Cut(t, 7, workers)
			data := commtest.NewContributions(7, elems)
			want := data.Tree(0, 7)
			found := make([]comm.Tuning, workers)
			c := comm.Config{Topology: hosts}
			errs := commtest.Ranks(t, local, plan, c, func(g *comm.Group) (err error) {
				if found[g.Rank()], err = g.Tune(); err != nil {
					return err
				}
				if got := g.Counters().Total(); got != (comm.Count{}) {
					return fmt.Errorf("counted %+v", got)
				}
				pieces := data.Pieces(g)
				if err := g.AllReduce(pieces[0], pieces); err != nil {
					return err
				}
				if i := commtest.Differ(pieces[0], want); i >= 0 {
					return fmt.Errorf("element %d is %v, want %v", i, pieces[0][i], want[i])
				}
				s, err := comm.PlanAllReduce(found[g.Rank()].Resolve(4*elems), hosts, plan, g.Rank(), elems)
				if got := int(g.Counters().Total().Sent); err == nil && got != 4*s.Cost().Sent {
					return fmt.Errorf("sent %d, want %d as chosen", got, 4*s.Cost().Sent)
				}
				return err
			})
			for r, err := range errs {
				if err != nil || !reflect.DeepEqual(found[r], found[0]) {
					t.Errorf("%d ranks, rank %d: %v, %+v, want %+v", workers, r, err, found[r], found[0])
				}
			}
			checkTuning(t, found[0], hosts)
		}
	}
}

func checkTuning(t *testing.T, found comm.Tuning, hosts comm.Topology) {
	t.Helper()
	for _, c := range found.Choices {
		if !comm.IsExact(c.Algorithm) || !(c.Seconds >= 0 && c.Seconds < 10) {
			t.Errorf("%d ranks: choice %+v", hosts.Size(), c)
		}
	}
	if found.Resolve(1<<30) != found.Resolve(1<<20) || found.Add <= 0 {
		t.Errorf("%d ranks: %+v", hosts.Size(), found)
	}
	isMeasured := func(l comm.LinkSpeed) bool { return l.Latency > 0 && l.Latency < 1 && l.Byte > 0 }
	if hosts.Hosts() > 1 && !isMeasured(found.Outside) ||
		hosts.Hosts() < hosts.Size() && !isMeasured(found.Inside) {
		t.Errorf("%d ranks: %+v", hosts.Size(), found)
	}
}

// Figures lead to the algorithm that the cost table implies.
func TestChoices(t *testing.T) {
	quick := comm.LinkSpeed{Latency: 2e-6, Message: 3e-7, Byte: 2e-10}
	slow := comm.LinkSpeed{Latency: 3e-5, Message: 3e-6, Byte: 8e-9} // 1 Gbit/s
	crossed := slow
	crossed.Crossing = comm.Crossing
	long := comm.LinkSpeed{Latency: 2e-2, Byte: 1e-11}
	chatty := comm.LinkSpeed{Latency: 1e-5, Message: 1e-5, Byte: 1e-9}
	for _, test := range []struct {
		hosts           string
		inside, outside comm.LinkSpeed
		small, large    string
	}{
		{"aa", quick, quick, "one-shot", "direct"},
		{"aaaa", quick, quick, "one-shot", "direct"},
		{"aabb", quick, slow, "one-shot", "halving-doubling"}, // whose first half stays on the host
		{"aaabbb", quick, slow, "one-shot", "hierarchical"},
		{"aaaabbbb", quick, slow, "one-shot", "hierarchical"},
		{"abcd", quick, slow, "one-shot", "direct"},
		{"abcd", quick, crossed, "one-shot", "halving-doubling"}, // with one peer in each step
		{"abc", quick, crossed, "one-shot", "direct"},            // which has fewer bytes
		{"abcd", quick, long, "one-shot", "one-shot"},
		{"abcdefghijklmnop", chatty, chatty, "halving-doubling", "halving-doubling"},
	} {
		hosts := comm.NewTopology(strings.Split(test.hosts, ""))
		found := comm.Tuning{Inside: test.inside, Outside: test.outside, Add: 1e-10}
		found.Choose(hosts, mustCut(hosts.Size(), hosts.Size()))
		small, large := found.Resolve(256), found.Resolve(1<<20)
		if small != test.small || large != test.large {
			t.Errorf("%s: %s, %s, want %s, %s: %v", test.hosts, small, large, test.small, test.large, &found)
		}
	}
}

// A rank lost while the others measure is named.
func TestTuneWithoutPeer(t *testing.T) {
	gone := errors.New("gone")
	errs := commtest.Ranks(t, local, mustCut(4, 4), comm.Config{}, func(g *comm.Group) error {
		if g.Rank() == 2 {
			return gone
		}
		_, err := g.Tune()
		return err
	})
	for r, err := range errs {
		var lost *comm.PeerError
		if r != 2 && (!errors.As(err, &lost) || lost.Rank != 2 || !strings.Contains(err.Error(), "tune")) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// rounding truncates each element to its upper half.
type rounding struct{}

func (rounding) Name() string       { return "rounding" }
func (rounding) Loss() comm.Loss    { return comm.Elementwise }
func (rounding) IsFixed() bool      { return true }
func (rounding) MaxBytes(n int) int { return 2 * n }

func (rounding) Encode(dst []byte, src []float32) int {
	for i, x := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(math.Float32bits(x)>>16))
	}
	return 2 * len(src)
}

func (rounding) Decode(dst []float32, src []byte) error {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
	return nil
}

// Groups that were measured to opposite choices give the same bits: with a lossy codec "auto" goes
// by sizes and ranks, not by measurements, and without one every choice is exact.
func TestNoBitDependsOnTheTuning(t *testing.T) {
	const workers, shards = 3, 5
	plan := commtest.Cut(t, shards, workers)
	for _, codec := range []comm.Codec{nil, rounding{}} {
		for _, elems := range []int{20, 3000, 90_000, comm.SegmentElems + 100} {
			data := commtest.NewContributions(shards, elems)
			sum := func(op comm.Op, choice string) []float32 {
				sums := make([][]float32, workers)
				c := comm.Config{Topology: comm.OneHost(workers)}
				errs := commtest.Ranks(t, local, plan, c, func(g *comm.Group) error {
					if choice != "" {
						g.Force(choice)
					}
					pieces := data.Pieces(g)
					sums[g.Rank()] = pieces[0]
					return g.Start(comm.Call{Op: op, Codec: codec, Out: pieces[0], Pieces: pieces}).Wait()
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				part := comm.Part(elems, workers, 0)
				if op == comm.ReduceScatter {
					return sums[0][part.Lo:part.Hi]
				}
				return sums[0]
			}
			for _, op := range []comm.Op{comm.AllReduce, comm.ReduceScatter} {
				want := sum(op, "")
				for _, choice := range []string{"one-shot", "direct", "tree", "halving-doubling"} {
					if i := commtest.Differ(sum(op, choice), want); i >= 0 {
						t.Errorf("%v, codec %v, %d elements: element %d differs where %s is quickest", op,
							codec, elems, i, choice)
					}
				}
			}
		}
	}
}

// The algorithm of auto with a codec.
func TestPick(t *testing.T) {
	quick := &comm.Tuning{Choices: []comm.Choice{{Bytes: 1 << 20, Algorithm: "tree"}}}
	for _, test := range []struct {
		name, hosts string
		measured    *comm.Tuning
		codec       comm.Codec
		bytes       int
		want        string
	}{
		{"auto", "aaa", quick, nil, 100, "tree"},
		{"auto", "aaa", nil, nil, 100, "one-shot"},
		{"auto", "aaa", quick, rounding{}, 100, "one-shot"},
		{"auto", "aaa", quick, rounding{}, 1 << 20, "direct"},
		{"auto", "aabb", quick, rounding{}, 1 << 20, "hierarchical"},
		{"auto", "aabb", quick, blocks{}, 1 << 20, "direct"},
		{"ring", "aabb", quick, rounding{}, 1 << 20, "ring"},
	} {
		hosts := comm.NewTopology(strings.Split(test.hosts, ""))
		if got := comm.Pick(test.name, test.measured, hosts, test.codec, test.bytes); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// blocks is rounding that claims to round elements in blocks.
type blocks struct{ rounding }

func (blocks) Loss() comm.Loss { return comm.Blockwise }
