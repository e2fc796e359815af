package compare_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// maker builds results row by row; every step of a row takes equally long on all ranks.
type maker struct {
	*record.Results
	isShort bool // rows have three steps
}

func newMaker(rounds, cores int) maker {
	return maker{Results: &record.Results{Rounds: rounds, Complete: true,
		Host: record.Machine{Cores: cores}}}
}

// add appends a row whose step i of round r takes step[r] seconds; the first takes three times
// as long. The loss falls from 2.3 to 1.
func (m maker) add(s record.Setting, step ...float64) *record.Row {
	s.Model, s.Data, s.Classes, s.Steps = "vgg11", "cifar10", 10, 40
	if m.isShort {
		s.Steps = 3
	}
	if s.Batch == 0 {
		s.Batch = 256
	}
	s.Threads, s.Shards = max(s.Threads, 1), max(s.Shards, 4)
	row := record.Row{Setting: s}
	for round, seconds := range step {
		run := record.Run{Round: round, Outcome: record.Outcome{Steps: s.Steps,
			Samples: int64(s.Steps * s.Batch), ParameterSHA256: "9f86d081884c7d65", ISA: "avx2",
			TestSamples: 100, BytesSent: int64(1000 * (s.Workers - 1))}}
		for rank := range s.Workers {
			run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: steps(s, seconds)})
			own := run.Ranks[rank].Steps.OwnLoss
			for i := range own {
				own[i] += 0.01 * (float64(rank) - float64(s.Workers-1)/2)
			}
		}
		run.Seconds = seconds * float64(s.Steps+2)
		row.Runs = append(row.Runs, run)
	}
	m.Rows = append(m.Rows, row)
	return &m.Rows[len(m.Rows)-1]
}

func steps(s record.Setting, seconds float64) record.Steps {
	st := record.Steps{Phases: map[string]record.Numbers{}}
	for i := range s.Steps {
		v := seconds
		if i == 0 {
			v *= 3
		}
		st.Epoch, st.Samples = append(st.Epoch, 0), append(st.Samples, s.Batch)
		st.Loss = append(st.Loss, 2.3-1.3*float64(i)/float64(s.Steps-1))
		st.OwnLoss = append(st.OwnLoss, st.Loss[i])
		st.Seconds = append(st.Seconds, v)
		st.Phases["forward"] = append(st.Phases["forward"], v/4)
		st.Phases["backward"] = append(st.Phases["backward"], v/2)
		st.Phases["sync_exposed"] = append(st.Phases["sync_exposed"], v/8)
		st.Phases["evaluation"] = append(st.Phases["evaluation"], v/8)
	}
	return st
}

// note returns the text of the first note on a topic, "" without one.
func note(c *compare.Comparison, topic string) string {
	for _, n := range c.Notes {
		if n.Topic == topic {
			return n.Text
		}
	}
	return ""
}

func wantNote(t *testing.T, c *compare.Comparison, topic string, parts ...string) {
	t.Helper()
	text := note(c, topic)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("note on %s: %q, want %q in it", topic, text, part)
		}
	}
}

func wantNoNote(t *testing.T, c *compare.Comparison, topics ...string) {
	t.Helper()
	for _, topic := range topics {
		if text := note(c, topic); text != "" {
			t.Errorf("note on %s: %q, want none", topic, text)
		}
	}
}

// The four-node report's believable ranks: 2.504, 1.745, 1.505 and 1.402 s per iteration.
func TestFourNodeReport(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.504)
	m.add(record.Setting{Strategy: "gather-scatter", Workers: 4}, 1.745)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 4, Algorithm: "ring"}, 1.505)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, 1.402)
	c := compare.Compare(m.Results)
	for i, want := range []float64{1, 1.43, 1.66, 1.79} {
		l := c.Groups[0].Lines[i]
		near(t, l.Label+" speed-up", l.Speedup.Median, want, 0.006)
		near(t, l.Label+" efficiency", l.Efficiency.Median, want/float64(l.Cores), 0.002)
	}
	wantNote(t, c, "one repeat", "every row", "no finding")
	wantNote(t, c, "ring", "all-reduce 4×1", "other bits")
	wantNote(t, c, "parameters", "all 3 rows", "9f86d081884c")
	wantNote(t, c, "first step", "3.0 times")
	wantNote(t, c, "epoch", "every row", "projection")
	wantNoNote(t, c, "contention", "ranks disagree", "unequal work", "not learned", "phases", "failed")
}

// The same report gave rank 0 of a synchronous job 1.174 s and its peers 1.745 s.
func TestRanksOfASynchronousJobMustAgree(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.504)
	row := m.add(record.Setting{Strategy: "gather-scatter", Workers: 4}, 1.745)
	row.Runs[0].Ranks[0].Steps = steps(row.Setting, 1.174)
	wantNote(t, compare.Compare(m.Results), "ranks disagree", "rank 0 1174 ms and rank 1 1745 ms")
	row.Setting.Strategy = "none"
	wantNoNote(t, compare.Compare(m.Results), "ranks disagree")
}

// Ranks that wait for each other may still differ by a step at either end, which is much in a run of three.
func TestRanksOfAShortRunMayDiffer(t *testing.T) {
	m := newMaker(2, 2)
	m.isShort = true
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.00064, 0.00065)
	row.Runs[1].Ranks[1].Steps = steps(row.Setting, 0.00088)
	wantNoNote(t, compare.Compare(m.Results), "ranks disagree")
}

// Own losses differ from rank to rank and the global one must not: else the ranks have parted.
func TestGlobalLossesOfASynchronousJobMustAgree(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
	c := compare.Compare(m.Results)
	wantNoNote(t, c, "losses disagree")
	l := c.Groups[0].Lines[0]
	near(t, "own loss of rank 0", l.Ranks[0].OwnLoss[0], 2.295, 1e-12)
	near(t, "own loss of rank 1", l.Ranks[1].OwnLoss[0], 2.305, 1e-12)
	if l.Loss[0] != 2.3 || l.LossFirst != 2.3 {
		t.Errorf("global loss %v, first %v, want 2.3", l.Loss[0], l.LossFirst)
	}
	row.Runs[0].Ranks[1].Steps.Loss[7] += 1e-9
	wantNote(t, compare.Compare(m.Results), "losses disagree", "every row", "one model")
	row.Setting.Strategy = "none"
	wantNoNote(t, compare.Compare(m.Results), "losses disagree")
}

// A worker of strategy none without a sample in a step has no loss there, not a loss of 0.
func TestLossLeavesOutRanksWithoutSamples(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "none", Workers: 2}, 1)
	idle := row.Runs[0].Ranks[1].Steps
	idle.Loss[39], idle.OwnLoss[39] = 0, math.NaN()
	l := compare.Compare(m.Results).Groups[0].Lines[0]
	near(t, "last loss", l.LossLast, 1, 1e-12)
}

// Baseline 218.53 s against 122.4 s per epoch on two devices: 1.785, 89 %. The total times say
// 2.02, because one side ran 11.3 epochs and the other 10: that comparison is refused.
func TestTwoDeviceReport(t *testing.T) {
	m := newMaker(1, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 218.53/391)
	two := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 122.4/391)
	c := compare.Compare(m.Results)
	l := c.Groups[0].Lines[1]
	near(t, "speed-up", l.Speedup.Median, 1.785, 0.001)
	near(t, "efficiency", l.Efficiency.Median, 0.893, 0.001)

	two.Runs[0].Steps, two.Runs[0].Samples = 40*113/100, 40*256*113/100
	c = compare.Compare(m.Results)
	if c.Groups[0].Lines[1].Speedup.Known() {
		t.Error("rows of unequal work got a speed-up")
	}
	wantNote(t, c, "unequal work", "ddp 2×1", "11571 samples against 10240", "no speed-up")
}

// Three workers with 21 samples each are not one with 64: different groups, no ratio.
func TestThreeTimesTwentyOneIsNotSixtyFour(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 64}, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 3, Batch: 63}, 0.5)
	c := compare.Compare(m.Results)
	if len(c.Groups) != 2 || c.Groups[1].Lines[0].Speedup.Known() {
		t.Fatalf("%d groups, speed-up %v: want two groups without a ratio between them",
			len(c.Groups), c.Groups[1].Lines[0].Speedup)
	}
	wantNote(t, c, "speed-up", "single on 1 core")
	if c.Title(&c.Groups[1]) != "vgg11 batch 63" {
		t.Errorf("title %q does not tell the groups apart", c.Title(&c.Groups[1]))
	}
}

// "Reliable convergence" at a loss of 2.33 for ten classes is guessing: ln(10) = 2.303.
func TestLossOfGuessing(t *testing.T) {
	m := newMaker(1, 2)
	row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1)
	loss := row.Runs[0].Ranks[0].Steps.Loss
	for i := range loss {
		loss[i] = 2.33
	}
	c := compare.Compare(m.Results)
	wantNote(t, c, "not learned", "mean loss of the last tenth of the steps is above 2.19, which is 95 % of",
		"ln(10) = 2.30: every row", "have not learned")
	for i := 30; i < len(loss); i++ {
		loss[i] = 37
	}
	c = compare.Compare(m.Results)
	wantNote(t, c, "diverged", "from 2.33 to 37", "guessing among 10 classes has 2.303", "every row")
	wantNoNote(t, c, "not learned")
	loss[39] = math.NaN()
	wantNote(t, compare.Compare(m.Results), "diverged", "every row")
}

// The share of guessing that notes tell is the one that decides.
func TestGuessingShare(t *testing.T) {
	limit := record.GuessingShare * 2.302585092994046 // ln(10)
	if compare.IsGuessing(limit-1e-9, 10) || !compare.IsGuessing(limit+1e-9, 10) {
		t.Errorf("the limit is not %v", limit)
	}
}

// A row whose links were in the clear carries a caution, one whose links were encrypted a fact.
func TestEncryptionIsTold(t *testing.T) {
	m := newMaker(2, 1)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2).Runs[0].Encryption = "not needed (one host)"
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1).Runs[0].Encryption = "tls"
	wantNoNote(t, compare.Compare(m.Results), "not encrypted")
	wantNote(t, compare.Compare(m.Results), "encryption", "TLS", "ddp 2×1")
	m.Rows[1].Runs[0].Encryption = "none"
	wantNote(t, compare.Compare(m.Results), "not encrypted", "--insecure", "ddp 2×1")
	wantNoNote(t, compare.Compare(m.Results), "encryption")
}

func TestMoreWorkersThanCoresIsContention(t *testing.T) {
	m := newMaker(2, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, 1, 1)
	c := compare.Compare(m.Results)
	lines := c.Groups[0].Lines
	if !lines[1].Efficiency.Known() || lines[2].Efficiency.Known() {
		t.Error("want an efficiency for 2 workers on 2 cores and none for 4")
	}
	near(t, "efficiency on 2 cores", lines[1].Efficiency.Median, 1, 1e-12)
	wantNote(t, c, "contention", "2 cores", "ddp 4×1", "not scaling")
	const word = " 4 threads shared 2 cores, so the "
	if text := c.Groups[0].Answer().Text; strings.Contains(text, word) {
		t.Errorf("%q of a row that may have all its cores", text)
	}
	faster := newMaker(6, 2)
	faster.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.1, 2, 2.1, 2, 2.1)
	faster.add(record.Setting{Strategy: "ddp", Workers: 4}, 1, 1.01, 1, 1.01, 1, 1.01)
	for _, rounds := range []int{6, 1} {
		faster.Rounds = rounds
		for i := range faster.Rows {
			faster.Rows[i].Runs = faster.Rows[i].Runs[:rounds]
		}
		if text := compare.Compare(faster.Results).Groups[0].Answer().Text; !strings.Contains(text, word) {
			t.Errorf("%d rounds: the answer %q does not tell of contention", rounds, text)
		}
	}
	wantNote(t, c, "few repeats", "Two or three rounds", "every row")
	wantNote(t, c, "one machine", "network")
	m.Rows[1].Runs = append(m.Rows[1].Runs, m.Rows[1].Runs[0])
	c = compare.Compare(m.Results)
	var few []string
	for _, n := range c.Notes {
		if n.Topic == "few repeats" {
			few = append(few, n.Text)
		}
	}
	if len(few) != 1 {
		t.Errorf("few repeats: %q", few)
	}
}

// A baseline with more threads than cores gives no efficiency to rows that have their cores.
func TestACrowdedBaselineMeasuresNoScaling(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Threads: 4}, 2, 2.01, 2.02, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.9, 0.91, 0.92, 0.9, 0.91, 0.92)
	g := compare.Compare(m.Results).Groups[0]
	if g.Lines[1].Efficiency.Known() {
		t.Errorf("an efficiency of %v", g.Lines[1].Efficiency)
	}
	if text := g.Answer().Text; !strings.Contains(text, " 4 threads shared 2 cores, so the 2.21× is no ") {
		t.Errorf("the answer %q does not tell of contention", text)
	}
}

// Workers on several hosts are compared with the cores of these, not with those of one machine.
func TestContentionOfHosts(t *testing.T) {
	m := newMaker(1, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 8, Hosts: 2, PerHost: 4, Cores: 4}, 1)
	wantNote(t, compare.Compare(m.Results), "contention",
		"More workers × threads than the cores of their hosts: ")
}

// If the baseline is another row than usual because that has no run, the report says so.
func TestAnotherBaselineIsTold(t *testing.T) {
	m := newMaker(1, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1})
	m.add(record.Setting{Strategy: "single", Workers: 1, Threads: 2}, 0.6)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.5)
	wantNote(t, compare.Compare(m.Results), "speed-up",
		"speed-up is over single 1×2, as single 1×1 has no successful run")
	m.Rows[1].Setting.Options, m.Rows[1].Setting.Threads = "memory=0", 1
	wantNote(t, compare.Compare(m.Results), "speed-up",
		"speed-up is over single 1×1 memory=0, as single 1×1 has no successful run")
	m.Rows[0].Runs = m.Rows[1].Runs
	if text := note(compare.Compare(m.Results), "speed-up"); strings.Contains(text, "no successful run") {
		t.Errorf("with a run of each: %q", text)
	}
}

// One round does not show that a core does more than in the baseline.
func TestSuperlinearInOneRound(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.4)
	wantNote(t, compare.Compare(m.Results), "above 100 %", "One round does not show that it is.")
}

func TestFloorAndPhases(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 3, 2.4)
	none := m.add(record.Setting{Strategy: "none", Workers: 2}, 2, 2)
	none.Runs[0].ParameterSHA256, none.Runs[1].ParameterSHA256 = "other", "other"
	c := compare.Compare(m.Results)
	ddp := c.Groups[0].Lines[1]
	near(t, "step over none", ddp.OverFloor.Median, 1.35, 1e-12)
	near(t, "spread", ddp.RunMedian.Spread(), 0.6/2.7, 1e-12)
	near(t, "first step", ddp.FirstStep, 8.1, 1e-12)
	near(t, "samples per second", ddp.PerSecond, 256/2.7, 1e-9)
	if len(ddp.Times) != 40 || ddp.Timed != 39 || ddp.Step.N != 78 {
		t.Errorf("%d step times, %d timed, %d in the summary: want 40, 39, 78",
			len(ddp.Times), ddp.Timed, ddp.Step.N)
	}
	sum := 0.0
	for _, p := range ddp.Phases {
		sum += p
	}
	near(t, "sum of phases", sum, 2.7, 1e-9)
	near(t, "other", ddp.Phases[5], 2.7/8, 1e-9)
	if len(c.Groups[0].Hashes) != 1 {
		t.Error("the parameters of strategy none are compared with those of one model")
	}
	wantNote(t, c, "no exchange", "none 2×1", "floor")
	wantNote(t, c, "noise", "in ddp 2×1; most, by 22 %, in ddp 2×1")
	findings := strings.Join(c.Groups[0].Findings(), "\n")
	for _, want := range []string{"No way of training is shown to be faster than single 1×1",
		"(medians 2700 ms and 4000 ms, ddp 2×1 the shorter in 2 of 2 rounds; " +
			"two rounds are too few for that; --repeats 6)",
		"without exchange: ddp 2×1 1.35×"} {
		if !strings.Contains(findings, want) {
			t.Errorf("findings %q, want %q", findings, want)
		}
	}
}

// One burst of 100 times the usual step changes the mean of all steps fourfold, and nothing here.
func TestPhasesAreThoseOfTypicalSteps(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "single", Workers: 1}, 1)
	s := row.Runs[0].Ranks[0].Steps
	s.Seconds[20] = 100
	s.Phases["other"] = make(record.Numbers, len(s.Seconds))
	s.Phases["other"][20] = 99
	c := compare.Compare(m.Results)
	phases := c.Groups[0].Lines[0].Phases
	near(t, "forward", phases[0], 0.25, 1e-12)
	near(t, "other", phases[5], 0.125, 1e-12)
	wantNoNote(t, c, "phases")
}

func TestNoFindingWithoutAgreementOfTheRounds(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1.9, 2.1)
	text := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	if !strings.Contains(text, "No way of training is shown to be faster than single 1×1") {
		t.Errorf("findings %q, want none", text)
	}
}

func TestNoFindingFromSingleRuns(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
	text := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	if !strings.Contains(text, "One run of each row decides nothing") {
		t.Errorf("findings %q from single runs", text)
	}
}

func TestOtherRefusals(t *testing.T) {
	m := newMaker(2, 4)
	m.Complete = false
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	ddp := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2)
	ddp.Runs[1].Error = "rank 1 was killed"
	other := m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2, 2)
	other.Runs[0].ParameterSHA256, other.Runs[1].ParameterSHA256 = "aa", "bb"
	for name, v := range other.Runs[0].Ranks[0].Steps.Phases {
		other.Runs[0].Ranks[0].Steps.Phases[name] = make(record.Numbers, len(v))
	}
	other.Runs[1].TestSamples = 50
	m.Load = 5.7
	ddp.Runs[0].Taken = &record.Taken{Stolen: 0.43, Others: 0.02}
	other.Runs[0].Taken = &record.Taken{Others: 0.04}
	m.Skipped = []record.Skip{{Model: "vgg11", Strategy: "ddp", Workers: 1, Reason: "Alone."}}
	c := compare.Compare(m.Results)
	wantNote(t, c, "incomplete", "interrupted")
	wantNote(t, c, "busy machine", "5.7 processes", "4 cores")
	wantNote(t, c, "taken cores", "every run of these rows: ddp 2×1.", "43 % of the cores' time",
		"2.0 % to other processes")
	wantNote(t, c, "failed", "ddp 2×1: 1 of 2 runs failed: rank 1 was killed")
	wantNote(t, c, "phases", "all-reduce 2×1", "25 %")
	wantNote(t, c, "parameters", "Repeating a run changed", "all-reduce 2×1")
	wantNote(t, c, "unequal runs", "all-reduce 2×1")
	wantNote(t, c, "skipped", "vgg11 ddp ×1", "Alone.")
	if c.Notes[0].Kind != compare.Refused || c.Notes[len(c.Notes)-1].Kind != compare.Fact {
		t.Error("notes are not sorted by kind")
	}
}

// Why ddp hides nothing is said where it can hide nothing.
func TestOneBucketHidesNothing(t *testing.T) {
	const want = "could be exchanged during it: ddp 2×1 (35.2 MiB of gradients, buckets of 64). Smaller " +
		"buckets overlap, as ddp:bucket=8192KiB."
	for bucket, isOne := range map[string]bool{"67108864": true, "1048576": false} {
		m := newMaker(1, 4)
		m.add(record.Setting{Strategy: "single", Workers: 1}, 2)
		row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
		row.Runs[0].Config = []byte(`{"bucket":` + bucket + `}`)
		for i := range row.Runs[0].Ranks {
			row.Runs[0].Ranks[i].Hidden = new(0.0)
		}
		if text := note(compare.Compare(m.Results), "one bucket"); strings.Contains(text, want) != isOne {
			t.Errorf("buckets of %s bytes: %q", bucket, text)
		}
	}
}

// What a step consists of is told of the runs that the step is told of, not of those that others disturbed.
func TestPhasesAreOfTheTimedRuns(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 60, 1.2)
	row.Runs[0].Taken = &record.Taken{Others: 0.9}
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1.3, 1.3)
	c := compare.Compare(m.Results)
	l := c.Groups[0].Lines[1]
	sum := 0.0
	for _, seconds := range l.Phases {
		sum += seconds
	}
	if l.Measured != 1 || sum > 1.1*l.Step.Median || l.Times[1] > 2*l.Step.Median ||
		l.LossSeconds[len(l.LossSeconds)-1] > 10*l.Step.Median*float64(len(l.Times)) {
		t.Errorf("of %d runs: phases of %g s in steps of %g s, a step of %g s, the last after %g s",
			l.Measured, sum, l.Step.Median, l.Times[1], l.LossSeconds[len(l.LossSeconds)-1])
	}
	m.Rows[0].Runs[1].Taken, m.Rows[2].Runs[1].Taken = row.Runs[0].Taken, row.Runs[0].Taken
	const want = "One run of each row decides nothing; --repeats 6 may. Others took cores from the other " +
		"runs."
	if a := compare.Compare(m.Results).Groups[0].Answer(); !strings.HasPrefix(a.Why, want) {
		t.Errorf("%q, %q, want %q", a.Text, a.Why, want)
	}
}

// What a row ended with is that of the runs that its times are of, and asynchronous workers see no epochs.
func TestResultIsOfTheTimedRuns(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	row := m.add(record.Setting{Strategy: "ps-async", Workers: 2}, 1.2, 1.2)
	row.Runs[0].Taken = &record.Taken{Others: 0.9}
	row.Runs[0].TestAccuracy, row.Runs[1].TestAccuracy = new(0.25), new(0.75)
	row.Runs[0].BytesSent, row.Runs[1].BytesSent = 100, 200
	m.Rows[0].Runs[0].EpochSeconds = record.Numbers{8}
	c := compare.Compare(m.Results)
	if l := c.Groups[0].Lines[1]; l.TestAccuracy != 0.75 || l.BytesSent != 200 {
		t.Errorf("accuracy %g, %g bytes: those of the run that is left out", l.TestAccuracy, l.BytesSent)
	}
	const want = "No epoch time for ps-async 2×1: asynchronous workers share the steps"
	if text := note(c, "epoch"); !strings.Contains(text, want) || strings.Contains(text, "ended before") {
		t.Errorf("%q, want %q", text, want)
	}
}

// Rows with several runs each, of which no two rows have two rounds in common, are not said to have one.
func TestRunsOfDifferentRounds(t *testing.T) {
	m := newMaker(3, 4)
	taken := &record.Taken{Others: 0.9}
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1.2, 1.2, 1.2).Runs[0].Taken = taken
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1.3, 1.3, 1.3).Runs[1].Taken = taken
	g := compare.Compare(m.Results).Groups[0]
	text := fmt.Sprint(g.Answer().Text, g.Answer().Why, g.Findings())
	if !strings.Contains(text, "in the few runs that count") || g.Answer().IsOneRun ||
		strings.Count(text, "No two rows have two rounds in common, which decides nothing") != 2 ||
		strings.Contains(text, "ne run of each row") {
		t.Errorf("%q", text)
	}
}

func TestDifferentParametersAreReported(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1).Runs[0].ParameterSHA256 = "bb"
	wantNote(t, compare.Compare(m.Results), "parameters", "2 different sets")
}

// A row whose gradients lost something is compared by time, but promises no bits and wins nothing.
func TestLossyRowsAreAnotherResult(t *testing.T) {
	m := newMaker(4, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2, 2, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1.2, 1.2, 1.2, 1.2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Wire: "zstd"}, 1.1, 1.1, 1.1, 1.1)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2, Wire: "int8", IsLossy: true}, 1, 1, 1, 1)
	for i := range row.Runs {
		row.Runs[i].ParameterSHA256 = "0123456789"
	}
	c := compare.Compare(m.Results)
	lossy := c.Groups[0].Lines[3]
	if lossy.Exact() || lossy.Label != "ddp 2×1 int8" || lossy.Refused != "" || lossy.Speedup.Median != 2 {
		t.Errorf("%+v", lossy)
	}
	wantNote(t, c, "another result", "ddp 2×1 int8", "another result")
	wantNote(t, c, "parameters", "all 3 rows")
	wantNoNote(t, c, "ring")
	if text := c.Groups[0].Findings()[0]; !strings.Contains(text, "ddp 2×1 zstd has the shortest step") {
		t.Errorf("finding %q", text)
	}
}

func TestLabelsTellRowsApart(t *testing.T) {
	m := newMaker(1, 4)
	for _, algorithm := range []string{"direct", "ring", "ring"} {
		m.add(record.Setting{Strategy: "ddp", Workers: 2, Algorithm: algorithm}, 1)
	}
	seen := map[string]bool{}
	for _, l := range compare.Compare(m.Results).Groups[0].Lines {
		if seen[l.Label] {
			t.Errorf("label %q is used twice", l.Label)
		}
		seen[l.Label] = true
	}
}

func TestEncodeDecode(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
	row.Runs[0].Config = []byte(`{"batch":64}`)
	row.Runs[0].Ranks[1].Steps.Loss[3] = math.NaN()
	row.Runs[0].Ranks[1].Steps.OwnLoss[4] = math.NaN()
	row.Runs[0].TestAccuracy = nil
	var b bytes.Buffer
	if err := record.Encode(&b, m.Results); err != nil {
		t.Fatal(err)
	}
	got, err := record.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	run := got.Rows[0].Runs[0]
	if got.Schema != 3 || !math.IsNaN(run.Ranks[1].Steps.OwnLoss[4]) {
		t.Errorf("schema %d, own losses %v", got.Schema, run.Ranks[1].Steps.OwnLoss)
	}
	run.Ranks[1].Steps.OwnLoss[4], row.Runs[0].Ranks[1].Steps.OwnLoss[4] = 0, 0
	if !math.IsNaN(run.Ranks[1].Steps.Loss[3]) || run.TestAccuracy != nil {
		t.Error("NaN did not survive")
	}
	run.Ranks[1].Steps.Loss[3], row.Runs[0].Ranks[1].Steps.Loss[3] = 0, 0
	if !reflect.DeepEqual(run.Ranks, row.Runs[0].Ranks) {
		t.Error("the raw samples changed")
	}
}

func TestDecodeRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"schema 7":                       `{"schema":7}`,
		"schema 1, this program reads 2": `{"schema":1}`,
		"rank 3 in place 0": `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":1,"threads":1,` +
			`"batch":1,"shards":1},"runs":[{"ranks":[{"rank":3}]}]}]}`,
		"1 losses, 0 own losses": `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":1,` +
			`"threads":1,"batch":1,"shards":1},"runs":[{"ranks":[{"steps":{"seconds":[1],` +
			`"loss":[1]}}]}]}]}`,
		"workers 0": `{"schema":2,"rows":[{"setting":{}}]}`,
		"round 3": `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":1,"threads":1,"batch":1,` +
			`"shards":1},"runs":[{"round":3}]}]}`,
		"rank 1 has 1 steps, rank 0 has 0": `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":2,` +
			`"threads":1,"batch":1,"shards":1},"runs":[{"ranks":[{"rank":0},{"rank":1,"steps":{"seconds":` +
			`[1],"loss":[1],"own_loss":[1],"epoch":[0],"samples":[1]}}]}]}]}`,
		"rounds: want at most": `{"schema":2,"rounds":-1}`,
		"1001 rounds":          `{"schema":2,"rounds":1001}`,
		"2 seconds, 1 losses": `{"schema":2,"rounds":1,"rows":[{"setting":{"workers":1,"threads":1,` +
			`"batch":1,"shards":1},"runs":[{"ranks":[{"steps":{"seconds":[1,2],"loss":[1]}}]}]}]}`,
		"decode results": `{`,
	} {
		if _, err := record.Decode(strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Steps: 2}, 1)
	var b bytes.Buffer
	if err := record.Encode(&b, m.Results); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":2,"rounds":1,"rows":[{"setting":{"workers":2,"threads":1,"batch":1,` +
		`"shards":1},"runs":[{"ranks":[{}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := record.Decode(bytes.NewReader(text)); err == nil {
			for _, g := range compare.Compare(r).Groups {
				g.Findings()
			}
		}
	})
}
