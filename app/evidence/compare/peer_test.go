package compare_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// Rows of another program are beside ours only if its losses are ours.
func TestPeers(t *testing.T) {
	for _, test := range []struct {
		name    string
		theirs  record.Numbers
		refused string
	}{
		{"equal", record.Numbers{2.3, 2.2, 2.1}, ""},
		{"rounded", record.Numbers{2.3001, 2.21, 2.15}, ""},
		{"other weights", record.Numbers{2.31, 2.2, 2.1}, "first:0.0043"},
		{"other updates", record.Numbers{2.3, 2.3, 2.3}, "later:0.095"},
		{"fewer steps", record.Numbers{2.3, 2.2}, "first:+Inf"},
		{"not compared", nil, "pytorch nchw"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(6, 2)
			same := []float64{1, 1, 1, 1, 1, 1}
			m.add(record.Setting{Strategy: "single", Workers: 1}, same...)
			row := m.add(record.Setting{Strategy: "single", Workers: 1, Peer: "pytorch",
				Options: "pytorch+nchw"}, 2, 2.1, 2, 2.1, 2, 2.1)
			for i := range row.Runs {
				row.Runs[i].ParameterSHA256, row.Runs[i].ISA = "", ""
			}
			if test.theirs != nil {
				m.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "vgg11", Data: "cifar10", Batch: 256,
					Format: "nchw", Ours: record.Numbers{2.3, 2.2, 2.1}, Theirs: test.theirs}}
			}
			c := compare.Compare(m.Results)
			if test.refused == "" {
				wantNothing(t, c, "another program")
			} else {
				wantFound(t, c, "another program", test.refused)
			}
			each := c.Groups[0].AgainstPeers()
			if (len(each) == 1) != (test.refused == "") || c.Groups[0].Lines[1].Speedup.Known() {
				t.Errorf("compared with %d rows of the peer", len(each))
			}
			if slices.Contains(c.Groups[0].Rivals, c.Groups[0].Lines[1]) {
				t.Error("another program is a rival")
			}
		})
	}
}

// Of many rows beside those of a peer, some differs by chance: the tests are corrected for their number.
func TestPeersAreCorrectedForTheirNumber(t *testing.T) {
	m := newMaker(6, 8)
	for workers := 1; workers <= 5; workers++ {
		ours := record.Setting{Strategy: "ddp", Workers: workers}
		theirs := ours
		theirs.Peer, theirs.Options = "pytorch", "pytorch+nchw"
		m.add(ours, 1, 1, 1, 1, 1, 1)
		m.add(theirs, 1.03, 1.01, 1.02, 1.001, 1.06, 1.002)
	}
	m.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "vgg11", Data: "cifar10", Batch: 256,
		Format: "nchw", Ours: record.Numbers{2.3}, Theirs: record.Numbers{2.3}}}
	for _, p := range compare.Compare(m.Results).Groups[0].AgainstPeers() {
		if p.IsDecided() {
			t.Errorf("%s is told from %s, %v", p.B.Label, p.A.Label, p.Interval)
		}
	}
}

// besidePyTorch returns results of a row of six rounds and of PyTorch's, of the same losses.
func besidePyTorch() (m maker, ours, theirs *record.Row) {
	m = newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1, 1, 2, 2, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Peer: "pytorch", Options: "pytorch+nchw"}, 2, 2, 2,
		4, 4, 4)
	m.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "vgg11", Data: "cifar10", Batch: 256,
		Format: "nchw", Ours: record.Numbers{2.3}, Theirs: record.Numbers{2.3}}}
	return m, &m.Rows[0], &m.Rows[1]
}

// What a peer sends is not told. Where ours cuts a batch into more shards, why losses differ is.
func TestPeersTellNoBytes(t *testing.T) {
	m, ours, _ := besidePyTorch()
	ours.Setting.Shards = 2
	c := compare.Compare(m.Results)
	if sent := c.Groups[0].Lines[1].BytesSent; !math.IsNaN(sent) {
		t.Errorf("PyTorch sent %v bytes", sent)
	}
	wantFound(t, c, "same work")
}

// Losses of a peer on batches that it has had before are not shown beside ours.
func TestRepeatedBatchesOfPeers(t *testing.T) {
	for _, test := range []struct{ batches, want int }{{40, 40}, {12, 12}, {0, 8}} {
		m, _, theirs := besidePyTorch()
		for i := range theirs.Runs {
			theirs.Runs[i].Batches = test.batches
		}
		c := compare.Compare(m.Results)
		l := c.Groups[0].Lines[1]
		isShown := !math.IsNaN(l.LossLast) && !math.IsNaN(l.Runs()[0].LossLast)
		if n := len(l.SharedLoss()); n != test.want || isShown != (test.want == 40) {
			t.Errorf("%d batches: %d losses, the last one is shown: %v", test.batches, n, isShown)
		}
		if test.want == 40 {
			wantNothing(t, c, "other batches")
			continue
		}
		wantFound(t, c, "other batches", fmt.Sprintf("batches:%d", test.want), "single 1×1 pytorch nchw")
		if ours := c.Groups[0].Lines[0]; len(ours.SharedLoss()) != 40 || math.IsNaN(ours.LossLast) {
			t.Errorf("%d of our losses, the last one %v", len(ours.SharedLoss()), ours.LossLast)
		}
	}
}

// Steps of some runs are mostly short, those of the others mostly long, and all together have another median
// than the runs: the row's step is that of the runs, inside their interval.
func TestStepIsInsideTheIntervalOfItsRuns(t *testing.T) {
	m := newMaker(5, 4)
	row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1, 1, 2, 2)
	for i := range row.Runs {
		s := row.Runs[i].Ranks[0].Steps.Seconds
		for j := range s[:len(s)*2/5] {
			s[j] = 3 // the median of no run, but those of 1 s become fewer than half of all steps
		}
	}
	l := compare.Compare(m.Results).Groups[0].Lines[0]
	if in := l.Interval(); l.Step.Median != 1 || !in.Contains(l.Step.Median) {
		t.Errorf("step %v, want 1, with the interval %v", l.Step.Median, in)
	}
	if !(l.Step.P10 <= l.Step.Median && l.Step.Median <= l.Step.P90) {
		t.Errorf("step %v outside of %v to %v", l.Step.Median, l.Step.P10, l.Step.P90)
	}
}

// Our fastest row stands beside the fastest one of another program, whatever its strategy: a slow ddp of
// theirs makes nothing look fast.
func TestFastestRowBesideAPeer(t *testing.T) {
	six := func(seconds float64) []float64 {
		return []float64{seconds, 1.01 * seconds, 0.99 * seconds, seconds, 1.02 * seconds, 0.98 * seconds}
	}
	uneven := func(seconds float64) []float64 {
		return []float64{1.1 * seconds, 0.9 * seconds, 0.8 * seconds, 1.1 * seconds, 1.2 * seconds, seconds}
	}
	for _, test := range []struct {
		name   string
		theirs []float64 // step times of their single, whose ddp takes 8 s
		want   string
	}{
		{"faster", six(6), "single 1×1 pytorch nchw 3.00 true"},
		{"slower", six(1), "single 1×1 pytorch nchw 0.50 true"},
		{"undecided", uneven(2), "single 1×1 pytorch nchw 1.04 false"},
		{"few rounds", six(6)[:3], "single 1×1 pytorch nchw 2.97 false"},
		{"none", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(6, 2)
			single := record.Setting{Strategy: "single", Workers: 1}
			ddp := record.Setting{Strategy: "ddp", Workers: 2}
			m.add(single, six(4)...)
			m.add(ddp, 2.02, 2, 2, 1.98, 2, 2)
			if test.theirs != nil {
				for _, s := range []*record.Setting{&single, &ddp} {
					s.Peer, s.Options = "pytorch", "pytorch+nchw"
				}
				m.add(single, test.theirs...)
				m.add(ddp, six(8)[:len(test.theirs)]...)
			}
			m.Peers = []record.PeerCheck{{Peer: "pytorch", Model: "vgg11", Data: "cifar10", Batch: 256,
				Format: "nchw", Ours: record.Numbers{2.3}, Theirs: record.Numbers{2.3}}}
			g := &compare.Compare(m.Results).Groups[0]
			p, isThere := g.FastestAgainstPeer()
			if isThere != (test.theirs != nil) {
				t.Fatalf("there is a pair: %v", isThere)
			}
			if !isThere {
				return
			}
			got := fmt.Sprintf("%s %.2f %v", p.A.Label, p.Ratio.Median, p.IsDecided())
			if got != test.want || p.B.Label != "ddp 2×1" {
				t.Errorf("%s beside %s, want %s", p.B.Label, got, test.want)
			}
		})
	}
}
