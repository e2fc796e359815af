package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// noises are ways in which a machine varies: factors of a run's time, in the order of the runs.
var noises = []struct {
	name string
	next func(*rand.Rand) func() float64
}{
	{"normal", func(r *rand.Rand) func() float64 {
		return func() float64 { return math.Exp(0.03 * r.NormFloat64()) }
	}},
	{"bursts in a run of ten", func(r *rand.Rand) func() float64 {
		return func() float64 {
			v := math.Exp(0.01 * r.NormFloat64())
			if r.IntN(10) == 0 {
				v *= 1 + r.ExpFloat64()
			}
			return v
		}
	}},
	{"skewed", func(r *rand.Rand) func() float64 {
		return func() float64 { return 1 + 0.05*r.ExpFloat64() }
	}},
	{"two clock rates, kept for several runs", func(r *rand.Rand) func() float64 {
		rate := 1.0
		return func() float64 {
			if r.IntN(8) == 0 {
				rate = 2.15 - rate
			}
			return rate * math.Exp(0.01*r.NormFloat64())
		}
	}},
	{"random walk", func(r *rand.Rand) func() float64 {
		log := 0.0
		return func() float64 { log += 0.01 * r.NormFloat64(); return math.Exp(log) }
	}},
	{"steady drift", func(r *rand.Rand) func() float64 {
		log := 0.0
		return func() float64 { log += 0.002; return math.Exp(log + 0.005*r.NormFloat64()) }
	}},
}

// bench runs rows in the interleaved order of a benchmark, every second round in reverse.
func bench(rounds, rows int, step func(row int) float64, noise func() float64) [][]float64 {
	times := make([][]float64, rows)
	for i := range times {
		times[i] = make([]float64, rounds)
	}
	for round := range rounds {
		for i := range rows {
			row := i
			if round%2 == 1 {
				row = rows - 1 - i
			}
			times[row][round] = step(row) * noise()
		}
	}
	return times
}

// A/A: twenty pairs of one row under two names, each pair in a group of its own. At most one pair may be
// called different and none be headlined, whatever the noise, and whatever the number of rounds.
func TestEqualRowsAreNotToldApart(t *testing.T) {
	const pairs, seeds = 20, 20
	for _, noise := range noises {
		for _, rounds := range []int{2, 3, 6, 12} {
			t.Run(fmt.Sprintf("%s, %d rounds", noise.name, rounds), func(t *testing.T) {
				t.Parallel()
				falsely := 0 // benchmarks with a difference
				for seed := range uint64(seeds) {
					m := newMaker(rounds, 4)
					m.isShort = true
					times := bench(rounds, 2*pairs, func(int) float64 { return 0.002 },
						noise.next(rand.New(rand.NewPCG(seed, 7))))
					for row, x := range times {
						m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 64 + row/2}, x...)
					}
					apart := checkCopies(t, compare.Compare(m.Results), pairs)
					if apart > 1 {
						t.Errorf("seed %d: %d pairs of equal rows are called different", seed, apart)
					}
					falsely += min(apart, 1)
				}
				// With 5 % of benchmarks, 5 or more of 20 would come in 0.3 %.
				if falsely > 4 {
					t.Errorf("%d of %d benchmarks of equal rows show a difference", falsely, seeds)
				}
			})
		}
	}
}

// checkCopies returns how many pairs of equal rows are called different, and fails if a verdict does so.
func checkCopies(t *testing.T, c *compare.Comparison, pairs int) (apart int) {
	t.Helper()
	seen := 0
	for i := range c.Groups {
		g := &c.Groups[i]
		seen += len(g.Pairs())
		if slices.ContainsFunc(g.Pairs(), compare.Pair.IsDecided) {
			apart++
		}
		if v := g.Verdict(); v.IsCertain() || len(v.Faster) > 0 {
			t.Errorf("a verdict on equal rows: %+v", v)
		}
	}
	if seen != pairs {
		t.Fatalf("%d pairs, want %d", seen, pairs)
	}
	return apart
}

// A planted 5 % is found among three rivals where noise and rounds make the interval narrower than what 5 %
// has above the least difference.
func TestPlantedDifferenceIsFound(t *testing.T) {
	for _, test := range []struct {
		rounds int
		noise  float64
		least  int // of 50 benchmarks that find it
	}{{6, 0.005, 20}, {10, 0.01, 35}, {25, 0.02, 47}, {20, 0.01, 48}} {
		found := 0
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(seed, 11))
			times := bench(test.rounds, 3, func(row int) float64 { return []float64{1, 1, 0.95}[row] },
				func() float64 { return math.Exp(test.noise * random.NormFloat64()) })
			m := newMaker(test.rounds, 2)
			m.isShort = true
			for row, name := range []string{"single", "all-reduce", "ddp"} {
				m.add(record.Setting{Strategy: name, Workers: 1 + min(row, 1)}, times[row]...)
			}
			v := compare.Compare(m.Results).Groups[0].Verdict()
			if v.IsCertain() && v.Tied[0].Label == "ddp 2×1" {
				found++
			}
		}
		if found < test.least {
			t.Errorf("%d rounds, noise %v: %d of 50 benchmarks find the difference, want %d", test.rounds,
				test.noise, found, test.least)
		}
	}
}

// verdictOf returns the verdict on rows of two workers beside one, of so many cores.
func verdictOf(cores int, single []float64, others map[string][]float64) (*compare.Group, compare.Verdict) {
	m := newMaker(len(single), cores)
	m.add(record.Setting{Strategy: "single", Workers: 1}, single...)
	for _, name := range []string{"all-reduce", "ddp", "gather-scatter", "ps"} {
		if others[name] != nil {
			m.add(record.Setting{Strategy: name, Workers: 2}, others[name]...)
		}
	}
	g := &compare.Compare(m.Results).Groups[0]
	return g, g.Verdict()
}

// What rounds decide: rows that they do not tell apart are tied, however their medians are.
func TestVerdict(t *testing.T) {
	thrice := func(x ...float64) []float64 { return slices.Repeat(x, 3) }
	type rows map[string][]float64
	for _, test := range []struct {
		name   string
		single []float64
		others rows
		tied   string
		faster string
	}{
		{"the rounds of a report that praised ddp for 2.22 ms above 2.20 ms", thrice(4.32, 4.30, 4.34),
			rows{"all-reduce": thrice(2.30, 2.20, 2.13), "ddp": thrice(2.04, 2.32, 2.22)},
			"ddp 2×1, all-reduce 2×1", "ddp 2×1, all-reduce 2×1"},
		{"ranked by rounds", []float64{4, 4, 4, 4, 4}, rows{"ddp": {2.2, 2.21, 2.2, 2.21, 2.2},
			"all-reduce": {1.9, 1.91, 1.91, 1.9, 1.9}}, "all-reduce 2×1", "all-reduce 2×1"},
		{"three rounds that never met", []float64{4.5, 4.51, 4.5}, rows{"ddp": {2.4, 2.41, 2.4}},
			"ddp 2×1", "ddp 2×1"},
		{"a noisy row is told from nothing", []float64{4, 4.01, 4.02, 4, 4.01, 4.02}, rows{
			"ddp": {2, 2.01, 2, 2.01, 2, 2.01}, "all-reduce": {2.4, 2.41, 2.4, 2.41, 2.4, 2.41},
			"ps": {1.9, 3.4, 3, 1.8, 3.1, 3}}, "ddp 2×1, ps 2×1", "ddp 2×1, ps 2×1"},
		{"a noisy row before a faster one", []float64{4, 4.01, 4.02, 4, 4.01, 4.02}, rows{
			"ddp": {2, 2.01, 2, 2.01, 2, 2.01}, "ps": {1.9, 5.4, 1.8, 5.8, 1.9, 1.8}},
			"ps 2×1, ddp 2×1, single 1×1", "ddp 2×1"},
		{"a noisy baseline", []float64{4, 8, 4, 8, 4, 4}, rows{"ddp": {2, 9, 4, 9, 2, 3}},
			"ddp 2×1, single 1×1", ""},
		{"the baseline", []float64{1, 1.01, 1, 1.01, 1, 1.01}, rows{"ddp": {2, 2.02, 2, 2.02, 2, 2.01}},
			"single 1×1", ""},
		{"two rounds", []float64{2, 2}, rows{"ddp": {1.9, 2.1}}, "ddp 2×1, single 1×1", ""},
		{"one round", []float64{2}, rows{"ddp": {1}}, "ddp 2×1, single 1×1", ""},
	} {
		_, v := verdictOf(4, test.single, test.others)
		if got, faster := labels(v.Tied), labels(v.Faster); got != test.tied || faster != test.faster {
			t.Errorf("%s: tied %s, faster %s", test.name, got, faster)
		}
	}
}

// A verdict is certain only if the intervals behind it cover with the confidence that pages promise, however
// many rounds there are and however far rows are apart: the range of four runs covers with 88 %.
func TestCertainIsAsSureAsItSays(t *testing.T) {
	isEver := false
	for rounds := 1; rounds <= 8; rounds++ {
		times := bench(rounds, 2, func(row int) float64 { return []float64{4, 2}[row] },
			func() float64 { return 1 })
		g, v := verdictOf(2, times[0], map[string][]float64{"ddp": times[1]})
		in := g.Pair(g.Lines[0], g.Lines[1]).Ratio.Interval
		if v.IsCertain() && in.Coverage < stat.Confidence {
			t.Errorf("%d rounds: certain, with an interval that covers with %v", rounds, in.Coverage)
		}
		isEver = isEver || v.IsCertain()
	}
	if !isEver {
		t.Error("no number of rounds is certain")
	}
}

// What another hour may turn is not told apart however sure the rounds of this one are of it.
func TestASmallDifferenceIsNotTold(t *testing.T) {
	for step, want := range map[float64]bool{0.985: false, 0.97: true, 1: false} {
		random := rand.New(rand.NewPCG(4, 1))
		times := bench(20, 2, func(row int) float64 { return []float64{1, step}[row] },
			func() float64 { return math.Exp(0.001 * random.NormFloat64()) })
		if _, v := verdictOf(2, times[0], map[string][]float64{"ddp": times[1]}); v.IsCertain() != want {
			t.Errorf("step %v: certain %v, want %v", step, v.IsCertain(), want)
		}
	}
}

// Rows of one round are no tests, so rows of several rounds are not corrected for them.
func TestPairsThatAreNoTestsCorrectNothing(t *testing.T) {
	for _, rows := range []int{0, 6} { // of one round, in a group of their own
		m := newMaker(4, 2)
		m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4.02, 4, 4.02)
		m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2.01, 2, 2.01)
		m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 8, 8.01, 8, 8.01)
		for i := range rows {
			m.add(record.Setting{Batch: 64, Strategy: "ddp", Workers: 1 + i}, 1)
		}
		if v := compare.Compare(m.Results).Groups[0].Verdict(); !v.IsCertain() {
			t.Errorf("beside %d rows of one round: %+v", rows, v)
		}
	}
}

// Rows are compared by the cores that they can use: four workers on two cores are set beside one process
// with two threads, which has their settings.
func TestOnSameCores(t *testing.T) {
	m := newMaker(6, 2)
	one := record.Setting{Strategy: "single", Workers: 1}
	two := record.Setting{Strategy: "single", Workers: 1, Threads: 2}
	m.add(one, 2, 2.01, 2, 2.01, 2, 2.01)
	m.add(two, 1.2, 1.21, 1.2, 1.21, 1.2, 1.21)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, 1, 1.01, 1.01, 1, 1, 1.01)
	two.Options = "checkpoint-every=10"
	m.add(two, 1.1, 1.11, 1.1, 1.11, 1.1, 1.11)
	g := compare.Compare(m.Results).Groups[0]
	for i, want := range []int{1, 2, 2} {
		if got := g.Lines[i].Cores; got != want {
			t.Errorf("%s: %d cores, want %d", g.Lines[i].Label, got, want)
		}
	}
	if l := g.Lines[2]; !l.Contended || l.Efficiency.Known() {
		t.Error("four workers on two cores are not said to contend")
	}
	p, isThere := g.OnSameCores()
	if !isThere || p.A.Label != "single 1×2" || !p.IsDecided() {
		t.Errorf("%v: %+v", isThere, p)
	}
	near(t, "ratio", p.Ratio.Median, 1.2, 0.01)
}

// take gives runs a share of cores that others took.
func take(row *record.Row, shares ...float64) {
	for i, share := range shares {
		row.Runs[i].Taken = &record.Taken{Others: share}
	}
}

// Runs that others took cores from count nowhere; a row of such runs only gets no ratio and no rank.
func TestNothingIsSaidOfRowsWhoseCoresOthersTook(t *testing.T) {
	m := newMaker(5, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.01, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1.4, 1.41, 1.4, 1.41, 9)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.6, 0.6, 0.6, 0.6, 0.6)
	m.add(record.Setting{Strategy: "none", Workers: 2}, 1.1, 1.1, 1.1, 1.1, 1.1)
	take(&m.Rows[1], 0, 0, 0.01, 0, 0.3)
	take(&m.Rows[2], 0.57, 0.2, 0.3, 0.06, 0.1)
	c := compare.Compare(m.Results)
	g := &c.Groups[0]
	if l := g.Lines[1]; l.Measured != 4 || l.OK != 5 || l.RunMedian.Max != 1.41 ||
		len(l.Speedup.Values) != 4 {
		t.Errorf("%+v: want the times of four runs of five", l)
	}
	if l := g.Lines[2]; !l.Disturbed || l.Speedup.Known() || l.Efficiency.Known() || l.OverFloor.Known() {
		t.Errorf("%+v: want no ratio", l)
	}
	if v := g.Verdict(); v.Tied[0] != g.Lines[1] || slices.Contains(g.Rivals, g.Lines[2]) {
		t.Errorf("first %s, rivals %s", v.Tied[0].Label, labels(g.Rivals))
	}
	wantFound(t, c, "taken cores", "[ddp 2×1]")
	wantFound(t, c, "taken runs", "[all-reduce 2×1]")
}

// An efficiency above 100 % is told with its range.
func TestMoreThanAllOfACore(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.83, 2.84, 2.83, 2.84, 2.83, 2.84)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1, 1.001, 1, 1.001, 1, 1.001)
	c := compare.Compare(m.Results)
	near(t, "efficiency", c.Groups[0].Lines[1].Efficiency.Median, 1.417, 0.001)
}

// One row under two names is found to be that, and a difference between the two is a warning.
func TestCopiesOfARow(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.01, 2.02, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.01, 2, 2.02, 2.01, 2, 2.02)
	c := compare.Compare(m.Results)
	wantNothing(t, c, "copies differ")
	m.Rows[1] = *newMaker(6, 2).add(record.Setting{Strategy: "single", Workers: 1}, 3, 3.01, 3.02, 3, 3.01,
		3.02)
	m.Rows[1].Setting.Algorithm = "ring" // which the run chose
	wantNothing(t, compare.Compare(m.Results), "copies differ")
	m.Rows[1].Copy = 1
	wantFound(t, compare.Compare(m.Results), "copies differ", "single 1×1 single 1×1 (2)")
}

// Four workers on two cores were never set beside one process with two threads in this benchmark, and its
// headline compared all-reduce with one core alone.
func TestReportR3(t *testing.T) {
	f, err := os.Open("../../../results/r3/results.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	p, isThere := compare.Compare(r).Groups[0].OnSameCores()
	if !isThere || p.A.Label != "single 1×2" || p.B.Label != "all-reduce 4×1" || p.IsDecided() {
		t.Errorf("%v: %s and %s, decided %v", isThere, p.A.Label, p.B.Label, p.IsDecided())
	}
}
