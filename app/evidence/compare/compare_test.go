package compare_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
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

// found returns what a rule finds first; nil if nothing.
func found(c *compare.Comparison, rule string) *finding.Finding {
	i := slices.IndexFunc(c.Findings, func(f finding.Finding) bool { return f.Rule == rule })
	if i < 0 {
		return nil
	}
	return &c.Findings[i]
}

// wantFound requires that a rule finds something, of which rows and values have all parts.
func wantFound(t *testing.T, c *compare.Comparison, rule string, parts ...string) {
	t.Helper()
	f := found(c, rule)
	if f == nil {
		t.Errorf("%s: nothing found", rule)
		return
	}
	text := fmt.Sprint(f.Rows, f.Values)
	if f.IsAll {
		text += "every row"
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %s, want %q in it", rule, text, part)
		}
	}
}

func wantNothing(t *testing.T, c *compare.Comparison, rules ...string) {
	t.Helper()
	for _, rule := range rules {
		if f := found(c, rule); f != nil {
			t.Errorf("%s: %v, want nothing", rule, *f)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

// labels names lines.
func labels(lines []*compare.Line) string {
	var names []string
	for _, l := range lines {
		names = append(names, l.Label)
	}
	return strings.Join(names, ", ")
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
	wantFound(t, c, "few rounds", "every row")
	wantFound(t, c, "ring", "[all-reduce 4×1]")
	wantFound(t, c, "parameters agree", "rows:3", "9f86d081884c")
	wantNothing(t, c, "contention", "unequal work", "not learned", "failed")
}

// Own losses differ from rank to rank and the global one must not: else the ranks have parted.
func TestGlobalLossesOfASynchronousJobMustAgree(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
	c := compare.Compare(m.Results)
	wantNothing(t, c, "losses disagree")
	l := c.Groups[0].Lines[0]
	if l.Loss[0] != 2.3 || l.LossFirst != 2.3 {
		t.Errorf("global loss %v, first %v, want 2.3", l.Loss[0], l.LossFirst)
	}
	row.Runs[0].Ranks[1].Steps.Loss[7] += 1e-9
	wantFound(t, compare.Compare(m.Results), "losses disagree", "[ddp 2×1]")
	row.Setting.Strategy = "none"
	wantNothing(t, compare.Compare(m.Results), "losses disagree")
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
	wantFound(t, c, "unequal work", "ddp 2×1", "{samples [11571 10240]}")
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
	wantFound(t, c, "not learned", "[single 1×1]")
	for i := 30; i < len(loss); i++ {
		loss[i] = 37
	}
	c = compare.Compare(m.Results)
	wantFound(t, c, "loss grew", "first:2.33", "last:37", "guess:2.302")
	wantNothing(t, c, "not learned")
	loss[39] = math.NaN()
	wantFound(t, compare.Compare(m.Results), "diverged", "[single 1×1]")
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
	wantFound(t, c, "contention", "[ddp 4×1]", "cores:2")
	wantFound(t, c, "few rounds", "every row")
	wantFound(t, c, "one machine", "lab:false")
}

// A baseline with more threads than cores gives no efficiency to rows that have their cores.
func TestACrowdedBaselineMeasuresNoScaling(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Threads: 4}, 2, 2.01, 2.02, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.9, 0.91, 0.92, 0.9, 0.91, 0.92)
	if l := compare.Compare(m.Results).Groups[0].Lines[1]; l.Efficiency.Known() {
		t.Errorf("an efficiency of %v", l.Efficiency)
	}
}

// A rate is of all samples after the first step over the time of their steps, long steps and small batches
// among them, while a step and a speed-up stay those of the median.
func TestRateIsOfAllSteps(t *testing.T) {
	m := newMaker(3, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1, 1)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.5, 0.5, 0.5)
	for i := range row.Runs {
		for _, rank := range row.Runs[i].Ranks {
			rank.Steps.Seconds[7] = 1.5
			rank.Steps.Samples[39] = 56
		}
	}
	ddp := compare.Compare(m.Results).Groups[0].Lines[1]
	want := (38*256 + 56) / (38*0.5 + 1.5)
	near(t, "samples per second", ddp.PerSecond, want, 1e-9)
	near(t, "samples per second of a run", ddp.Runs()[0].PerSecond, want, 1e-9)
	near(t, "step", ddp.Step.Median, 0.5, 1e-12)
	near(t, "speed-up", ddp.Speedup.Median, 2, 1e-12)
}

// Workers on several hosts are compared with the cores of these, not with those of one machine.
func TestContentionOfHosts(t *testing.T) {
	m := newMaker(1, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 8, Hosts: 2, PerHost: 4, Cores: 4}, 1)
	wantFound(t, compare.Compare(m.Results), "contention", "cores:0")
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
	near(t, "samples per second", ddp.PerSecond, (256/3.0+256/2.4)/2, 1e-9)
	if len(ddp.Times) != 40 || ddp.Step.N != 78 {
		t.Errorf("%d step times, %d in the summary: want 40 and 78", len(ddp.Times), ddp.Step.N)
	}
	sum := 0.0
	for _, p := range ddp.Phases {
		sum += p
	}
	near(t, "sum of phases", sum, 2.7, 1e-9)
	near(t, "other", ddp.Phases[6], 2.7/8, 1e-9)
	if len(c.Groups[0].Hashes) != 1 {
		t.Error("the parameters of strategy none are compared with those of one model")
	}
	wantFound(t, c, "no exchange", "[none 2×1]")
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
	near(t, "other", phases[6], 0.125, 1e-12)
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
	ddp.Runs[0].Taken = &record.Taken{Stolen: 0.43, Others: 0.02}
	other.Runs[0].Taken = &record.Taken{Others: 0.04}
	m.Skipped = []record.Skip{{Model: "vgg11", Strategy: "ddp", Workers: 1, Reason: "Alone."}}
	c := compare.Compare(m.Results)
	wantFound(t, c, "incomplete")
	wantFound(t, c, "taken cores", "[ddp 2×1]")
	wantFound(t, c, "failed", "[ddp 2×1]", "failed:1", "runs:2", "rank 1 was killed")
	wantFound(t, c, "parameters change", "[all-reduce 2×1]")
	wantFound(t, c, "unequal runs", "[all-reduce 2×1]")
	wantFound(t, c, "skipped", "vgg11 ddp, 1 worker", "Alone.")
	if !slices.IsSortedFunc(c.Findings, func(a,
		b finding.Finding) int {
		return int(a.Severity) - int(b.Severity)
	}) {
		t.Error("findings are not sorted by severity")
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
	if l.Measured != 1 || sum > 1.1*l.Step.Median || l.Times[1] > 2*l.Step.Median {
		t.Errorf("of %d runs: phases of %g s in steps of %g s, a step of %g s", l.Measured, sum,
			l.Step.Median, l.Times[1])
	}
}

// What a row ended with is that of its first run, though its time does not count, and asynchronous workers
// see no epochs and share no step.
func TestResultIsOfTheFirstRun(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2)
	row := m.add(record.Setting{Strategy: "ps-async", Workers: 2}, 1.2, 1.2)
	row.Runs[0].Staleness, row.Runs[1].Staleness = []int{4}, []int{4}
	row.Runs[0].Taken = &record.Taken{Others: 0.9}
	row.Runs[0].TestAccuracy, row.Runs[1].TestAccuracy = new(0.25), new(0.75)
	row.Runs[0].BytesSent, row.Runs[1].BytesSent = 100, 200
	m.Rows[0].Runs[0].EpochSeconds = record.Numbers{8}
	c := compare.Compare(m.Results)
	if l := c.Groups[0].Lines[1]; l.TestAccuracy != 0.25 || l.BytesSent != 100 {
		t.Errorf("accuracy %g, %g bytes: not those of the first run", l.TestAccuracy, l.BytesSent)
	} else if l.Phases != nil || l.Times != nil {
		t.Errorf("a step of all workers takes %v", l.Phases)
	}
	row.Runs[0].Staleness, row.Runs[1].Staleness = nil, nil // with staleness 0
	if l := compare.Compare(m.Results).Groups[0].Lines[1]; l.Phases == nil || l.Times == nil {
		t.Error("workers that wait for each other share no step")
	}
}

func TestDifferentParametersAreReported(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1).Runs[0].ParameterSHA256 = "bb"
	wantFound(t, compare.Compare(m.Results), "parameters differ", "sets:2")
}

// Rows that train for as long are compared by their steps; how many these are, and which weights follow, is
// their result. Rows of another time do other work.
func TestTimedRows(t *testing.T) {
	m := newMaker(2, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, For: "30s"}, 2, 2)
	ddp := m.add(record.Setting{Strategy: "ddp", Workers: 2, For: "30s"}, 1, 1)
	ddp.Runs[0].Samples, ddp.Runs[1].Samples = 30000, 30256
	ddp.Runs[0].ParameterSHA256, ddp.Runs[1].ParameterSHA256 = "aa", "bb"
	c := compare.Compare(m.Results)
	wantNothing(t, c, "unequal work", "unequal runs", "parameters differ", "parameters change")
	near(t, "speed-up", c.Groups[0].Lines[1].Speedup.Median, 2, 1e-9)
	ddp.Setting.For = "20s"
	wantFound(t, compare.Compare(m.Results), "unequal work", "[ddp 2×1]", "time")
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
	if lossy.Exact() || lossy.Label != "ddp 2×1 int8" || lossy.Refused != nil || lossy.Speedup.Median != 2 {
		t.Errorf("%+v", lossy)
	}
	wantFound(t, c, "another result", "[ddp 2×1 int8]")
	wantFound(t, c, "parameters agree", "rows:3")
	wantNothing(t, c, "ring")
	if v := c.Groups[0].Verdict(); labels(v.Tied) != "ddp 2×1 zstd" {
		t.Errorf("%s are the fastest", labels(v.Tied))
	}
}

// A row with a learning rate of its own reaches another result by equal work: neither refused nor ranked.
func TestOwnRateIsAnotherResult(t *testing.T) {
	m := newMaker(3, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, LR: 0.1}, 2, 2, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, LR: 0.1}, 1, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, LR: 0.2, Options: "lr=0.2",
		Inexact: "a learning rate of its own"}, 1, 1, 1)
	c := compare.Compare(m.Results)
	wantFound(t, c, "another result", "[ddp 2×1 lr=0.2]")
	wantNothing(t, c, "unequal work")
	if v := c.Groups[0].Verdict(); labels(v.Ranked) != "ddp 2×1, single 1×1" {
		t.Errorf("%s are ranked", labels(v.Ranked))
	}
}

// A median step has no checkpoint in it, so a row with some is not ranked among others. Rows that all have
// some are.
func TestRowsWithCheckpointsAreNotRanked(t *testing.T) {
	m := newMaker(3, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2, 2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Options: "checkpoint-every=100"}, 0.9, 0.9, 0.9)
	keep := func(rows ...int) {
		for _, row := range rows {
			for i := range m.Rows[row].Runs {
				m.Rows[row].Runs[i].Checkpoints = &record.Checkpoints{Count: 1}
			}
		}
	}
	keep(2)
	g := compare.Compare(m.Results).Groups[0]
	if v := g.Verdict(); labels(v.Ranked) != "ddp 2×1, single 1×1" || !g.Lines[2].Speedup.Known() {
		t.Errorf("%s are ranked; with checkpoints %v", labels(v.Ranked), g.Lines[2].Speedup)
	}
	keep(0, 1)
	if v := compare.Compare(m.Results).Groups[0].Verdict(); len(v.Ranked) != 3 {
		t.Errorf("of rows that all have checkpoints %s are ranked", labels(v.Ranked))
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
				g.Verdict()
			}
		}
	})
}

// Rows whose batch grows with the workers are compared by samples per second with a worker alone, and get no
// speed-up.
func TestWeakScaling(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 8, PerWorker: 8, Shards: 1}, 1, 1, 1, 1, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Batch: 16, PerWorker: 8, Shards: 2}, 1.25, 1.25,
		1.25, 1.25, 1.25, 1.25)
	c := compare.Compare(m.Results)
	if len(c.Groups) != 2 {
		t.Fatalf("%d groups, want one for each batch", len(c.Groups))
	}
	if l := c.Groups[1].Lines[0]; l.Speedup.Known() {
		t.Errorf("speed-up %v of another batch", l.Speedup)
	}
	wantFound(t, c, "weak scaling", "alone:single 1×1", "each:0.8")
}
