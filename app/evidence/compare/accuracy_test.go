package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// seeded gives the runs of a row a seed each and evaluations at equal intervals of their training, whose
// accuracies rise to that of the seed.
func seeded(row *record.Row, seconds float64, accuracy ...float64) {
	for i := range row.Runs {
		run := &row.Runs[i]
		run.Seed, run.TrainSeconds = uint64(i+1), seconds
		run.ParameterSHA256 = strings.Repeat(string(rune('a'+i)), 12)
		for k := range 4 {
			part := float64(k+1) / 4
			run.Evaluations = append(run.Evaluations, record.Evaluation{Steps: 10 * (k + 1),
				TrainSeconds: part * seconds, Accuracy: record.Number(part * accuracy[i])})
		}
		run.TestAccuracy = &accuracy[i]
	}
}

// A row's accuracy is compared with that of the fastest exact one: all of these reach one result.
func TestAccuracyIsComparedWithTheFastestExactRow(t *testing.T) {
	m := newMaker(3, 4)
	seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2, 2), 80, 0.9, 0.8, 0.7)
	seeded(m.add(record.Setting{Strategy: "all-reduce", Workers: 2, Options: "bucket=64KiB"}, 1, 1, 1), 40,
		0.9, 0.8, 0.7)
	for _, wire := range []string{"int8", "top-k"} {
		seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2, Wire: wire, IsLossy: true}, 0.5, 0.5, 0.5),
			20, 0.9, 0.8, 0.6)
	}
	g := compare.Compare(m.Results).Groups[0]
	if r := g.Lines[2].Accuracy.Reference; r != g.Lines[1] {
		t.Errorf("compared with %s", r.Label)
	}
}

// What is not exact is compared by accuracy, seed by seed: at its end, and when the first rival was ready.
func TestAccuracyAtEqualSamplesAndTime(t *testing.T) {
	m := newMaker(3, 4)
	seeded(m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4, 4), 160, 0.9, 0.8, 0.7)
	seeded(m.add(record.Setting{Strategy: "ddp", Workers: 4}, 2, 2, 2), 80, 0.9, 0.8, 0.7)
	seeded(m.add(record.Setting{Strategy: "local-sgd", Workers: 4, Inexact: "averages"}, 1, 1, 1), 40,
		0.88, 0.77, 0.68)
	c := compare.Compare(m.Results)
	g := c.Groups[0]
	l := g.Lines[2]
	if l.Accuracy.Reference != g.Lines[1] {
		t.Fatalf("reference %s, want ddp", l.Accuracy.Reference.Label)
	}
	near(t, "at equal samples", l.Accuracy.Samples.Mean, 0.7766667, 1e-6)
	near(t, "over samples", l.Accuracy.OverSamples.Mean, -0.0233333, 1e-6)
	near(t, "time limit", l.Accuracy.Limit, 40, 0)
	near(t, "at equal time", l.Accuracy.Time.Mean, 0.7766667, 1e-6)
	near(t, "ddp at equal time, half way", g.Lines[1].Accuracy.Time.Mean, 0.4, 1e-6)
	near(t, "single at a quarter", g.Lines[0].Accuracy.Time.Mean, 0.2, 1e-6)
	if curve := l.Accuracy.Curve; len(curve) != 4 || curve[1].Samples != 20*256 || curve[1].Lo != 0.34 ||
		curve[3].Seconds != 40 {
		t.Errorf("curve %+v", curve)
	}
	over := l.Accuracy.OverSamples
	near(t, "interval from", over.Interval.Lo, -0.0439, 1e-3)
	near(t, "own accuracy", over.Own, 0.7766667, 1e-6)
	near(t, "over time", l.Accuracy.OverTime.Mean, 0.3766667, 1e-6)
	if over.Seeds != 3 || !(over.Interval.Hi < 0) {
		t.Errorf("%+v: want a difference of three seeds", over)
	}
	if slices.Contains(g.Rivals, l) {
		t.Error("a row with another result is ranked")
	}
	wantFound(t, c, "another result", "local-sgd 4×1")
	wantFound(t, c, "parameters agree", "rows:2", "seeds:3")
}

// Rows of different conditions are in different groups, and no sentence relates them.
func TestConditionsAreNotCompared(t *testing.T) {
	m := newMaker(6, 4)
	for _, condition := range []string{"equal workers", "links: 10 Mbit/s"} {
		m.add(record.Setting{Strategy: "single", Workers: 1, Condition: condition}, 4, 4, 4, 4, 4, 4)
		m.add(record.Setting{Strategy: "ddp", Workers: 4, Condition: condition}, 2, 2, 2, 2, 2, 2)
	}
	c := compare.Compare(m.Results)
	if len(c.Groups) != 2 || c.Title(&c.Groups[1]) != "vgg11, links: 10 Mbit/s" {
		t.Fatalf("%d groups, title %q", len(c.Groups), c.Title(&c.Groups[1]))
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		if len(g.Lines) != 2 || len(g.Rivals) != 2 || g.Baseline != g.Lines[0] {
			t.Errorf("group %d: %d lines, %d rivals", i, len(g.Lines), len(g.Rivals))
		}
	}
}

// Equal hashes of every seed are equal results; different seeds of one row do not disagree.
func TestHashesAreComparedSeedBySeed(t *testing.T) {
	m := newMaker(2, 4)
	seeded(m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4), 160, 0.9, 0.8)
	row := m.add(record.Setting{Strategy: "ddp", Workers: 4}, 2, 2)
	seeded(row, 80, 0.9, 0.8)
	c := compare.Compare(m.Results)
	if g := c.Groups[0]; len(g.Hashes) != 1 || g.Lines[1].Disagree || g.Lines[1].Seeds != 2 {
		t.Errorf("hashes %v, disagree %v, %d seeds", g.Hashes, g.Lines[1].Disagree, g.Lines[1].Seeds)
	}
	row.Runs[1].ParameterSHA256 = "another"
	if g := compare.Compare(m.Results).Groups[0]; len(g.Hashes) != 2 {
		t.Errorf("hashes %v, want the two of the second seed", g.Hashes)
	}
}

// Workers that meet every few steps have a mean step: the median would hide the steps in which they do.
func TestLooseStepsAreMeans(t *testing.T) {
	m := newMaker(1, 4)
	row := m.add(record.Setting{Strategy: "diloco", Workers: 2, Inexact: "averages"}, 1)
	for rank := range row.Runs[0].Ranks {
		s := row.Runs[0].Ranks[rank].Steps
		s.Seconds[20] = 40
	}
	l := compare.Compare(m.Results).Groups[0].Lines[0]
	near(t, "step", l.Step.Median, 2, 1e-9) // (38 + 40) / 39
}

// What strategy auto chose is told.
func TestChoicesAreTold(t *testing.T) {
	m := newMaker(2, 4)
	row := m.add(record.Setting{Strategy: "auto", Workers: 2}, 2, 2)
	row.Runs[0].Chosen, row.Runs[1].Chosen = "ddp:overlap-forward", "ddp"
	wantFound(t, compare.Compare(m.Results), "chosen", "[auto 2×1]", "ddp:1", "ddp:overlap-forward:1")
}

// Of many rows whose accuracy strays by chance, each has an interval with 0, because they hold together.
func TestAccuraciesAreCorrectedForTheirNumber(t *testing.T) {
	m := newMaker(5, 4)
	accuracies := func(row *record.Row, values ...float64) {
		for i := range row.Runs {
			row.Runs[i].Seed, row.Runs[i].TestAccuracy = uint64(i+1), &values[i]
		}
	}
	same := []float64{1, 1, 1, 1, 1}
	accuracies(m.add(record.Setting{Strategy: "ddp", Workers: 2}, same...), 0.90, 0.90, 0.90, 0.90, 0.90)
	for i, by := range []float64{0.01, 0, -0.001, 0.002, 0.001} {
		accuracies(m.add(record.Setting{Strategy: "ddp", Workers: 2, Wire: "int8", IsLossy: true,
			Options: fmt.Sprint("clip=", i)}, same...), 0.905+by, 0.895+by, 0.909+by, 0.892+by, 0.904+by)
	}
	g := compare.Compare(m.Results).Groups[0]
	first := g.Lines[1].Accuracy.OverSamples
	if !first.Interval.Contains(0) {
		t.Errorf("%+v: want an interval with 0", first)
	}
}

// Asynchronous workers share the steps: the training time by all samples is that of a step, and how late
// updates were is added up over the runs.
func TestAsynchronousRows(t *testing.T) {
	m := newMaker(2, 4)
	row := m.add(record.Setting{Strategy: "ps-async", Workers: 2, Inexact: "late"}, 1, 1)
	for i := range row.Runs {
		run := &row.Runs[i]
		own := &run.Ranks[0].Steps // rank 0 has done fewer
		for _, column := range []*record.Numbers{&own.Loss, &own.OwnLoss, &own.Seconds} {
			*column = (*column)[:15]
		}
		own.Epoch, own.Samples = own.Epoch[:15], own.Samples[:15]
		for name, v := range own.Phases {
			own.Phases[name] = v[:15]
		}
		run.TrainSeconds, run.Staleness = 20, []int{3, 1}
	}
	row.Runs[1].Staleness = []int{2, 1, 1}
	if err := m.Results.Validate(); err != nil {
		t.Fatal(err)
	}
	c := compare.Compare(m.Results)
	l := c.Groups[0].Lines[0]
	near(t, "step", l.Step.Median, 0.5, 1e-9)
	near(t, "samples per second", l.PerSecond, 512, 1e-9)
	if !slices.Equal(l.Staleness, []int{5, 2, 1}) {
		t.Errorf("staleness %v", l.Staleness)
	}
	wantNothing(t, c, "losses disagree")
}
