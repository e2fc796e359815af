package comm_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// All ranks of a tuned group go by the same choices, of exact algorithms, and nothing was counted.
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

// Figures lead to the algorithm that the cost table has for them.
func TestChoices(t *testing.T) {
	quick := comm.LinkSpeed{Latency: 2e-6, Message: 3e-7, Byte: 2e-10}
	slow := comm.LinkSpeed{Latency: 3e-5, Message: 3e-6, Byte: 8e-9} // 1 Gbit/s
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

// A rank that is lost while the others measure is named.
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
