package compare_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
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
		{"other weights", record.Numbers{2.31, 2.2, 2.1}, "its first loss is 0.0043 away"},
		{"other updates", record.Numbers{2.3, 2.3, 2.3}, "the others up to 0.095"},
		{"fewer steps", record.Numbers{2.3, 2.2}, "its first loss is +Inf away"},
		{"not compared", nil, "its losses were not compared with ours"},
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
			refused := ""
			for _, n := range c.Notes {
				if n.Topic == "another program" && n.Kind == compare.Refused {
					refused = n.Text
				}
			}
			if refused == "" != (test.refused == "") || !strings.Contains(refused, test.refused) {
				t.Errorf("refused: %q, want %q", refused, test.refused)
			}
			findings := strings.Join(c.Groups[0].Findings(), "\n")
			isCompared := strings.Contains(findings, "2.05× (1.99–2.11) the speed of PyTorch")
			if isCompared != (test.refused == "") || c.Groups[0].Lines[1].Speedup.Known() {
				t.Errorf("findings %s", findings)
			}
			if strings.Contains(findings, "No way of training is faster than") {
				t.Errorf("another program is a rival: %s", findings)
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
	findings := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	if n := strings.Count(findings, "taken round by round, which is not told apart."); n != 5 {
		t.Errorf("%d of 5 rows are not told apart:\n%s", n, findings)
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

// What a peer sends is not told. Where ours cuts a batch into more shards the page says why losses differ.
func TestPeersTellNoBytes(t *testing.T) {
	for _, shards := range []int{1, 2} {
		m, ours, _ := besidePyTorch()
		ours.Setting.Shards = shards
		c := compare.Compare(m.Results)
		if sent := c.Groups[0].Lines[1].BytesSent; !math.IsNaN(sent) {
			t.Errorf("PyTorch sent %v bytes", sent)
		}
		told := strings.Contains(fmt.Sprint(c.Notes), "batch norm sees a shard")
		if told != (shards > 1) {
			t.Errorf("%d shards: other losses are explained: %v", shards, told)
		}
	}
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
			wantNoNote(t, c, "other batches")
			continue
		}
		wantNote(t, c, "other batches", fmt.Sprintf("from step %d on", test.want+1),
			fmt.Sprintf("first %d batches again", test.want), "single 1×1 pytorch nchw")
		if ours := c.Groups[0].Lines[0]; len(ours.SharedLoss()) != 40 || math.IsNaN(ours.LossLast) {
			t.Errorf("%d of our losses, the last one %v", len(ours.SharedLoss()), ours.LossLast)
		}
	}
}

// The step of a row is the median of its runs' medians, in the sentence about a peer as in the table.
func TestPeersHaveTheStepsOfTheTable(t *testing.T) {
	m, ours, _ := besidePyTorch()
	s := ours.Runs[3].Ranks[0].Steps.Seconds
	for i := range s[:15] {
		s[i] = 1 // the median of the run stays, that of all steps does not
	}
	g := compare.Compare(m.Results).Groups[0]
	findings := strings.Join(g.Findings(), "\n")
	l := g.Lines[0]
	want := fmt.Sprintf("single 1×1 takes %s ms a step, ", compare.Millis(l.RunMedian.Median))
	if l.Step.Median != l.RunMedian.Median || !strings.Contains(findings, want) {
		t.Errorf("steps of %v, runs of %v: %s", l.Step.Median, l.RunMedian.Median, findings)
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

// Runs that are too short to tell what others took are told: a caution where others are not so short.
func TestShortRuns(t *testing.T) {
	m, ours, theirs := besidePyTorch()
	for i := range ours.Runs {
		ours.Runs[i].Seconds, theirs.Runs[i].Seconds = 0.07, 0.2
	}
	kind := func() (kinds []compare.Kind) {
		for _, n := range compare.Compare(m.Results).Notes {
			if n.Topic == "short runs" {
				kinds = append(kinds, n.Kind)
			}
		}
		return kinds
	}
	wantNote(t, compare.Compare(m.Results), "short runs", "others took cores: every row (runs of 0.07 to "+
		"0.2 s;", "Runs of 300 steps would tell.")
	if got := kind(); !slices.Equal(got, []compare.Kind{compare.Fact}) {
		t.Errorf("notes %v of rows that are all short", got)
	}
	for i := range theirs.Runs {
		theirs.Runs[i].Taken = &record.Taken{}
	}
	wantNote(t, compare.Compare(m.Results), "short runs", "others took cores: single 1×1 (runs of 0.07 s;",
		"Longer runs that others disturb are found")
	if got := kind(); !slices.Equal(got, []compare.Kind{compare.Caution}) {
		t.Errorf("notes %v of rows of which one is short", got)
	}
	for i := range ours.Runs {
		ours.Runs[i].Seconds = 0.6
	}
	if got := kind(); got != nil {
		t.Errorf("notes %v of rows that are long", got)
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
		{"faster", six(6), "ddp 2×1 is 3.00× (2.95–3.05) as fast as single 1×1 pytorch nchw; no row of " +
			"PyTorch has a shorter step."},
		{"slower", six(1), "ddp 2×1 is 0.50× (0.49–0.51) as fast as single 1×1 pytorch nchw; no row of " +
			"PyTorch has a shorter step."},
		{"undecided", uneven(2), "The rounds do not tell ddp 2×1 from single 1×1 pytorch nchw, the row of " +
			"PyTorch with the shortest step: "},
		{"few rounds", six(6)[:3], "its speed, which decides nothing: it has 3 of the 6 rounds that this " +
			"takes."},
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
			if isThere && !strings.Contains(p.BesidePeer(), test.want) {
				t.Errorf("%s\nwant %s", p.BesidePeer(), test.want)
			}
			if isThere && !strings.Contains(strings.Join(g.Findings(), "\n"), p.BesidePeer()) {
				t.Errorf("not among the findings: %q", g.Findings())
			}
		})
	}
}
