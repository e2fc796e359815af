package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
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
				TrainSeconds: part * seconds, Accuracy: part * accuracy[i]})
		}
		run.TestAccuracy = &accuracy[i]
	}
}

// Quantiles of Student's distribution, two-sided 95 %: 12.706, 4.303 and 2.262 with 1, 2 and 9 degrees of
// freedom (any table, such as Abramowitz and Stegun, 26.10).
func TestMeanInterval(t *testing.T) {
	for _, test := range []struct {
		values []float64
		half   float64
	}{
		{[]float64{-1, 1}, 12.706}, // s / sqrt(n) is 1
		{[]float64{0, 1, 2}, 4.303 / 1.7320508},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2.262 * 0.9574271},
	} {
		i := stat.MomentsOf(test.values).MeanInterval(0.95)
		near(t, "half of the interval", (i.Hi-i.Lo)/2, test.half, 0.001)
		near(t, "middle", (i.Hi+i.Lo)/2, stat.Mean(test.values), 1e-9)
	}
	if i := stat.MomentsOf([]float64{1}).MeanInterval(0.95); i.Coverage != 0 {
		t.Errorf("interval %+v of one value", i)
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
	found := strings.Join(g.Findings(), "\n")
	for _, want := range []string{"local-sgd 4×1 reaches another result than ddp 4×1",
		"below ddp 4×1, -2.33 points (95 % interval -3.77 to -0.90, 3 seeds)",
		"At equal time, 40.0 s: 77.67 %, above ddp 4×1, +37.67 points"} {
		if !strings.Contains(found, want) {
			t.Errorf("findings %s\nwant %q", found, want)
		}
	}
	if strings.Contains(found, "local-sgd 4×1 has the shortest step") {
		t.Errorf("a row with another result is called the fastest: %s", found)
	}
	wantNote(t, c, "another result", "local-sgd 4×1", "average several models")
	wantNote(t, c, "parameters", "both rows")
}

// What a row's accuracy is compared with differs from it in one setting, or the sentence names all of them.
func TestAccuracyIsComparedBetweenRowsAsAlikeAsThereAre(t *testing.T) {
	for _, hasPlain := range []bool{true, false} {
		m := newMaker(3, 4)
		seeded(m.add(record.Setting{Strategy: "all-reduce", Workers: 2,
			Options: "bucket=64KiB+overlap-forward"}, 1, 1, 1), 40, 0.9, 0.8, 0.7)
		if hasPlain {
			seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2, 2), 80, 0.9, 0.8, 0.7)
		}
		seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2, Options: "wire=int8", Wire: "int8",
			IsLossy: true}, 3, 3, 3), 120, 0.9, 0.8, 0.6)
		found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
		want := "ddp 2×1 wire=int8 reaches another result than ddp 2×1. Accuracy"
		if !hasPlain {
			want = "reaches another result than all-reduce 2×1 bucket=64KiB overlap-forward, from which it " +
				"differs in strategy, wire, bucket and overlap-forward. Accuracy"
		}
		if !strings.Contains(found, want) {
			t.Errorf("findings %s\nwant %q", found, want)
		}
	}
}

// Figures in one sentence are of the same seeds: where one row has no evaluation yet, its seed counts on
// neither side, and the sentence says so.
func TestEqualTimeIsOfSeedsThatBothHave(t *testing.T) {
	m := newMaker(2, 4)
	reference := m.add(record.Setting{Strategy: "ps", Workers: 3}, 2, 2)
	seeded(reference, 80, 0.9, 0.8)
	reference.Runs[1].Evaluations = reference.Runs[1].Evaluations[3:]
	seeded(m.add(record.Setting{Strategy: "ps-async", Workers: 3, Inexact: "late"}, 1, 1), 40, 0.5, 0.1)
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	for _, want := range []string{"at equal samples: 30.00 %, not shown",
		"At equal time, 40.0 s: 50.00 %, +5.00 points against ps 3×1; one seed",
		"Only 1 of 2 seeds had evaluations of both by then."} {
		if !strings.Contains(found, want) {
			t.Errorf("findings %s\nwant %q", found, want)
		}
	}
}

// One seed shows no difference, and says so.
func TestOneSeedIsNoFinding(t *testing.T) {
	m := newMaker(1, 4)
	seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2), 80, 0.9)
	seeded(m.add(record.Setting{Strategy: "ddp", Workers: 2, Wire: "int8", IsLossy: true}, 1), 40, 0.8)
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	if !strings.Contains(found, "one seed has no interval") || strings.Contains(found, "below") {
		t.Errorf("findings %s", found)
	}
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
		if len(g.Lines) != 2 || len(g.Pairs) != 1 || g.Baseline != g.Lines[0] {
			t.Errorf("group %d: %d lines, %d pairs", i, len(g.Lines), len(g.Pairs))
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

// What strategy auto chose is compared by the row that names it, or by its own.
func TestChoicesAreCompared(t *testing.T) {
	m := newMaker(6, 4)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Options: "overlap-forward"}, 1, 1, 1, 1, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25)
	row := m.add(record.Setting{Strategy: "auto", Workers: 2}, 2, 2, 2, 2, 2, 2)
	for i, chosen := range []string{"ddp:overlap-forward", "ddp", "gather-scatter",
		"ddp:overlap-forward", "ddp", "gather-scatter"} {
		row.Runs[i].Chosen = chosen
	}
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	for _, want := range []string{
		"auto 2×1 chose ddp:overlap-forward in 2 of 6 runs, the exact row with the shortest step.",
		"auto 2×1 chose ddp in 2 of 6 runs. The step of ddp 2×1 is 1.25× (1.25–1.25) that of",
		"chose gather-scatter in 2 of 6 runs. The step of auto 2×1 is 2.00×"} {
		if !strings.Contains(found, want) {
			t.Errorf("findings %s\nwant %q", found, want)
		}
	}
}

// A choice is not called the fastest where the rounds do not tell it from the next row.
func TestAChoiceThatIsNotToldApart(t *testing.T) {
	m := newMaker(3, 4)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1, 1.2, 1.1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1.2, 1, 1.11)
	row := m.add(record.Setting{Strategy: "auto", Workers: 2}, 1.1, 1.1, 1.1)
	for i, chosen := range []string{"all-reduce", "ddp", "ddp"} {
		row.Runs[i].Chosen = chosen
	}
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	for _, want := range []string{"runs, whose step is the shortest but not told from that of ",
		" is not shown to differ from the shortest, that of "} {
		if !strings.Contains(found, want) {
			t.Errorf("findings %s\nwant %q", found, want)
		}
	}
}

// Of many rows whose accuracy strays by chance, some has an interval without 0; the correction says so.
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
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	want := "not shown to differ from ddp 2×1 after a correction for 5 comparisons, +1.10 points"
	if !strings.Contains(found, want) || strings.Contains(found, "above ddp") {
		t.Errorf("findings %s\nwant %q", found, want)
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
	wantNoNote(t, c, "ranks disagree", "losses disagree")
}
