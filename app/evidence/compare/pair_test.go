package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// ratios returns the ratios whose logarithms are d.
func ratios(d ...float64) stat.Ratio {
	var over, under []float64
	for _, v := range d {
		over, under = append(over, math.Exp(v)), append(under, 1)
	}
	return stat.PairedRatio(over, under, 0)
}

// The hours of sleep that two drugs added, patient by patient (Student 1908): t = -4.0621 with 9 degrees of
// freedom, p = 0.002833 (R, t.test(extra ~ group, sleep, paired = TRUE)).
func TestPairedPOfStudentsSleep(t *testing.T) {
	r := ratios(-1.2, -2.4, -1.3, -1.3, 0, -1, -1.8, -0.8, -4.6, -1.4)
	near(t, "p", r.PairedP(), 0.002833, 5e-7)
}

// Two differences m-s and m+s have t = m/s; n differences of which half are m-s and half m+s have
// t = m/s*sqrt(n-1). At the tabulated 2.5 % points of Student's distribution p is 0.05.
func TestPairedPAtTabulatedPoints(t *testing.T) {
	for n, point := range map[int]float64{4: 3.18245, 6: 2.57058, 10: 2.26216, 20: 2.09302} {
		var d []float64
		for i := range n {
			d = append(d, point/math.Sqrt(float64(n-1))+float64(2*(i%2)-1))
		}
		near(t, fmt.Sprintf("p of %d pairs", n), ratios(d...).PairedP(), 0.05, 2e-6)
	}
	// An even number of degrees of freedom: 2.77645 with 4, by differences -1, 1, 0, 1, -1 around the mean.
	m := 2.77645 / math.Sqrt(5)
	near(t, "p of 5 pairs", ratios(m-1, m+1, m, m+1, m-1).PairedP(), 0.05, 2e-6)
	for _, r := range []stat.Ratio{ratios(), ratios(1), ratios(0, 0, 0, 0), ratios(-1, 1, -1, 1),
		ratios(1, 1, 1)} {
		if p := r.PairedP(); p != 1 {
			t.Errorf("%v: p %v, want 1", r.Values, p)
		}
	}
}

// The example of R's p.adjust: 0.01, 0.02, 0.03, 0.04, 0.05 become 0.05, 0.08, 0.09, 0.09, 0.09.
func TestHolm(t *testing.T) {
	p := []float64{0.04, 0.01, 0.05, 0.02, 0.03}
	want := []float64{0.09, 0.05, 0.09, 0.08, 0.09}
	for i, got := range stat.Holm(p) {
		near(t, fmt.Sprintf("p %v", p[i]), got, want[i], 1e-12)
	}
	if got := stat.Holm([]float64{0.7, 0.6}); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("%v, want no probability above 1", got)
	}
}

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

// checkCopies returns how many pairs of equal rows are called different, and fails if a headline does so.
func checkCopies(t *testing.T, c *compare.Comparison, pairs int) (apart int) {
	t.Helper()
	wantNote(t, c, "copies", "")
	seen := 0
	for i := range c.Groups {
		g := &c.Groups[i]
		seen += len(g.Pairs)
		if slices.ContainsFunc(g.Pairs, compare.Pair.IsDecided) {
			apart++
		}
		if text := strings.Join(g.Findings(), " "); !strings.HasPrefix(text, "No way of training is shown") {
			t.Errorf("finding %q of equal rows", text)
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
			g := compare.Compare(m.Results).Groups[0]
			if strings.HasPrefix(g.Findings()[0], "ddp 2×1 has the shortest step") {
				found++
			}
		}
		if found < test.least {
			t.Errorf("%d rounds, noise %v: %d of 50 benchmarks find the difference, want %d", test.rounds,
				test.noise, found, test.least)
		}
	}
}

// The rounds of a report that praised ddp for 2.22 ms above an all-reduce of 2.20 ms.
func TestRowsThatCannotBeToldApartAreNamedTogether(t *testing.T) {
	m := newMaker(9, 2)
	thrice := func(x ...float64) []float64 { return slices.Repeat(x, 3) }
	m.add(record.Setting{Strategy: "single", Workers: 1}, thrice(0.00432, 0.00430, 0.00434)...)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, thrice(0.00230, 0.00220, 0.00213)...)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, thrice(0.00204, 0.00232, 0.00222)...)
	g := compare.Compare(m.Results).Groups[0]
	text := g.Findings()[0]
	for _, want := range []string{"all-reduce 2×1 and ddp 2×1 have the shortest steps; they cannot be told " +
		"apart (medians 2.20 ms and 2.22 ms, all-reduce 2×1 the shorter in 6 of 9 rounds).",
		" all-reduce 2×1 is 1.95× (1.90–2.01) as fast as single 1×1, 98 % per core.",
		" ddp 2×1 is 1.95× (1.89–2.06) as fast as single 1×1, 98 % per core."} {
		if !strings.Contains(text, want) {
			t.Errorf("finding %q, want %q", text, want)
		}
	}
}

// Rounds that agree, but are too few to decide, ask for more.
func TestFewRoundsThatAgreeAskForMore(t *testing.T) {
	m := newMaker(4, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4.01, 4, 4.01)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2, 2.01, 2, 2.01)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2.02, 2.1, 2.03, 2.02)
	text := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	want := "in 4 of 4 rounds; four rounds are too few for that; --repeats 6)"
	if !strings.Contains(text, want) {
		t.Errorf("findings %q, want %q", text, want)
	}
}

// Rows of one round are no tests, so rows of several rounds are not corrected for them; and where more than
// two rows are not told apart, the sentence says what would do it. The rounds are those of a BERT beside a
// ResNet that ran once.
func TestPairsThatAreNoTestsCorrectNothing(t *testing.T) {
	for _, test := range []struct {
		rows int // of one round, in a group of their own
		ddp  []float64
		want string
	}{{0, []float64{2, 2.01, 2, 2.01}, "ddp 2×1 has the shortest step"},
		{6, []float64{2, 2.01, 2, 2.01}, "ddp 2×1 has the shortest step"},
		{0, []float64{2, 3.9, 2.02, 3.5}, "four rounds are too few for that"}} {
		m := newMaker(4, 2)
		m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4.02, 4, 4.02)
		m.add(record.Setting{Strategy: "ddp", Workers: 2}, test.ddp...)
		m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 8, 8.01, 8, 8.01)
		for i := range test.rows {
			m.add(record.Setting{Batch: 64, Strategy: "ddp", Workers: 1 + i}, 1)
		}
		text := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
		if !strings.Contains(text, test.want) {
			t.Errorf("beside %d rows of one round: %q, want %q", test.rows, text, test.want)
		}
	}
}

// A finding ranks by the step that it names, not by the speed-up, whose rounds may differ.
func TestFindingRanksByWhatItNames(t *testing.T) {
	m := newMaker(4, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4, 4, 4)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2.2, 2.21, 2.2, 2.21)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1.9, 1.91, 1.91, 1.9)
	text := compare.Compare(m.Results).Groups[0].Findings()[0]
	if !strings.HasPrefix(text, "all-reduce 2×1 has the shortest step: 1905 ms, 2.10×") {
		t.Errorf("finding %q", text)
	}
}

// Rows are compared by the cores that they can use: four workers on two cores are set beside one process
// with two threads.
func TestCoresAreThoseOfTheHost(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.01, 2, 2.01, 2, 2.01)
	m.add(record.Setting{Strategy: "single", Workers: 1, Threads: 2}, 1.2, 1.21, 1.2, 1.21, 1.2, 1.21)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, 1, 1.01, 1.01, 1, 1, 1.01)
	c := compare.Compare(m.Results)
	g := c.Groups[0]
	for i, want := range []int{1, 2, 2} {
		if got := g.Lines[i].Cores; got != want {
			t.Errorf("%s: %d cores, want %d", g.Lines[i].Label, got, want)
		}
	}
	if !g.Lines[2].Contended || g.Lines[2].Efficiency.Known() {
		t.Error("four workers on two cores are not said to contend")
	}
	if text := strings.Join(g.Findings(), "\n"); !strings.Contains(text,
		"On the same 2 cores, ddp 4×1 is 1.20× (1.19–1.21) as fast as one process (single 1×2).") {
		t.Errorf("findings %q", text)
	}
}

// take gives runs a share of cores that others took.
func take(row *record.Row, shares ...float64) {
	for i, share := range shares {
		row.Runs[i].Taken = &record.Taken{Others: share}
	}
}

// A pair that has fewer rounds than others, because others took cores, says so wherever rounds are counted.
func TestRoundsThatAPairLacks(t *testing.T) {
	m := newMaker(5, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 9, 9.1, 9, 9.1, 9)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2.4, 2, 2.4, 2)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2.1, 2.3, 2.2, 2.5, 2.3)
	m.add(record.Setting{Strategy: "ps", Workers: 2}, 2.2, 2.5, 2.3, 2.5, 2.3)
	take(&m.Rows[3], 0, 0, 0, 0, 0.3)
	g := compare.Compare(m.Results).Groups[0]
	a := g.Answer()
	want := "but 4 to 5 rounds cannot tell it from all-reduce 2×1 and ps 2×1"
	if !strings.Contains(a.Text, want) {
		t.Errorf("answer %q, want %q", a.Text, want)
	}
	want = "Others took cores in some rounds: 4 remain beside ps 2×1."
	if !strings.HasSuffix(a.Why, want) {
		t.Errorf("reason %q, want %q", a.Why, want)
	}
	finding := g.Findings()[0]
	want = "four rounds, as others took cores in 1 more, are too few for that"
	if !strings.Contains(finding, want) {
		t.Errorf("finding %q, want %q", finding, want)
	}
}

// Where as many rounds as decide were run and others took cores in some, more of them are asked for.
func TestMoreRepeatsThanThereWere(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 9, 9.1, 9, 9, 9, 9)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2.1, 2, 2.1, 2, 2.1)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2.1, 2.3, 2.2, 2.1, 2.1, 2.1)
	take(&m.Rows[2], 0, 0, 0, 0.3, 0.3, 0.3)
	if text := compare.Compare(m.Results).Groups[0].Answer().Text; !strings.Contains(text,
		"3 rounds cannot tell it from all-reduce 2×1, 2200 ms (--repeats 12).") {
		t.Errorf("answer %q", text)
	}
}

// A slower row that the answer names says that it has more threads than cores.
func TestTheAnswerSaysWhichNextRowIsCrowded(t *testing.T) {
	m := newMaker(8, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Threads: 2}, 1, 1.01, 1, 1.02, 1, 1, 1.01, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 8, Threads: 2}, 2.4, 2.41, 2.4, 2.4, 2.4, 2.4, 2.42, 2.4)
	text := compare.Compare(m.Results).Groups[0].Answer().Text
	if want := " The 16 threads of ddp 8×2 shared 2 cores."; !strings.HasSuffix(text, want) {
		t.Errorf("answer %q, want %q", text, want)
	}
}

// Runs that others took cores from count nowhere; a row of such runs only gets no ratio and no headline.
func TestNothingIsSaidOfRowsWhoseCoresOthersTook(t *testing.T) {
	m := newMaker(5, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.01, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1.4, 1.41, 1.4, 1.41, 9)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.6, 0.6, 0.6, 0.6, 0.6)
	m.add(record.Setting{Strategy: "none", Workers: 2}, 1.1, 1.1, 1.1, 1.1, 1.1)
	take(&m.Rows[1], 0, 0, 0.01, 0, 0.3)
	take(&m.Rows[2], 0.57, 0.2, 0.3, 0.06, 0.1)
	c := compare.Compare(m.Results)
	g := c.Groups[0]
	l := g.Lines[1]
	if l.Measured != 4 || l.OK != 5 || l.RunMedian.Max != 1.41 || len(l.Speedup.Values) != 4 {
		t.Errorf("%+v: want the times of four runs of five", l)
	}
	if l := g.Lines[2]; !l.Disturbed || l.Speedup.Known() || l.Efficiency.Known() || l.OverFloor.Known() {
		t.Errorf("%+v: want no ratio", l)
	}
	findings := strings.Join(g.Findings(), "\n")
	for _, want := range []string{"all-reduce 2×1 has the shortest step",
		"during these rows, which are left out here: ddp 2×1."} {
		if !strings.Contains(findings, want) {
			t.Errorf("findings %q, want %q", findings, want)
		}
	}
	const left = " Others took cores from every run of ddp 2×1: not ranked."
	if why := g.Answer().Why; !strings.HasSuffix(why, left) {
		t.Errorf("the answer's reason %q, want %q at its end", why, left)
	}
	wantNote(t, c, "taken cores", "every run of these rows: ddp 2×1. At most, 57 %",
		"went to other processes")
	wantNoNote(t, c, "above 100 %")

	take(&m.Rows[0], 0.1, 0.1, 0.1, 0.1, 0.1)
	g = compare.Compare(m.Results).Groups[0]
	findings = strings.Join(g.Findings(), "\n")
	want := "So no speed-ups: the baseline, single 1×1"
	if g.Lines[1].Speedup.Known() || !strings.Contains(findings, want) {
		t.Errorf("speed-up %v against a baseline that others slowed down", g.Lines[1].Speedup.Median)
	}
	for i := range m.Rows {
		take(&m.Rows[i], 0.1, 0.1, 0.1, 0.1, 0.1)
	}
	g = compare.Compare(m.Results).Groups[0]
	if got := g.Findings(); len(got) != 1 || !strings.Contains(got[0], "every row, so nothing is said") {
		t.Errorf("findings %q", got)
	}
}

// A row that is left with a round or two cannot be told from any other. It is named and does not hide what
// the rounds of the others show; among rows that have no more, it is ranked as they are.
func TestRowsWithFewRoundsHideNothing(t *testing.T) {
	build := func(rounds int) maker {
		m := newMaker(rounds, 4)
		noise := []float64{0, 0.003, 0.001, 0.004, 0.002, 0.005}[:rounds]
		for _, row := range []struct {
			strategy string
			workers  int
			step     float64
		}{{"single", 1, 2}, {"all-reduce", 2, 1.2}, {"ddp", 2, 1}} {
			var steps []float64
			for _, v := range noise {
				steps = append(steps, row.step+v)
			}
			m.add(record.Setting{Strategy: row.strategy, Workers: row.workers}, steps...)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		rounds int
		taken  []float64 // of the runs of all-reduce
		want   string
	}{
		{"one of four", 4, []float64{0, 0.9, 0.9, 0.9},
			"all-reduce 2×1 has one undisturbed round: not ranked."},
		{"two of six", 6, []float64{0, 0.9, 0.9, 0.9, 0.9, 0},
			"all-reduce 2×1 has two undisturbed rounds: not ranked."},
		{"two of three", 3, []float64{0, 0.9, 0}, ""},
		{"none", 4, []float64{0.9, 0.9, 0.9, 0.9}, ""},
	} {
		m := build(c.rounds)
		take(&m.Rows[1], c.taken...)
		g := compare.Compare(m.Results).Groups[0]
		a, said := g.Answer(), strings.Join(g.Findings(), " ")
		if c.want == "" {
			if strings.Contains(a.Why+said, "undisturbed") {
				t.Errorf("%s: %q, %q", c.name, a.Why, said)
			}
			continue
		}
		if !a.IsCertain || !strings.HasPrefix(a.Text, "ddp 2×1 has the shortest step") {
			t.Errorf("%s: %q, certain %v", c.name, a.Text, a.IsCertain)
		}
		if !strings.Contains(a.Why, c.want) || !strings.Contains(said, c.want) ||
			g.Unranked(g.Lines[1]) != "too few rounds" {
			t.Errorf("%s: %q, %q, unranked %q", c.name, a.Why, said, g.Unranked(g.Lines[1]))
		}
	}
	m := build(2)
	take(&m.Rows[1], 0, 0.9)
	g := compare.Compare(m.Results).Groups[0]
	if why := g.Unranked(g.Lines[1]); why != "" {
		t.Errorf("one of two rounds: %s", why)
	}
}

// An efficiency above 100 % says what may be behind it, where the number is.
func TestMoreThanAllOfACore(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.83, 2.84, 2.83, 2.84, 2.83, 2.84)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1, 1.001, 1, 1.001, 1, 1.001)
	c := compare.Compare(m.Results)
	wantNote(t, c, "above 100 %", "at most 142 %: ddp 2×1", "caches", "measure again")
	if text := c.Groups[0].Findings()[0]; !strings.Contains(text, "142 % per core, where a core does more") {
		t.Errorf("finding %q", text)
	}
	m.Rows[1] = *newMaker(6, 2).add(record.Setting{Strategy: "ddp", Workers: 2}, 1.45, 1.38, 1.3, 1.45,
		1.38, 1.3)
	wantNote(t, compare.Compare(m.Results), "above 100 %", "not shown to be more")

	m = newMaker(1, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.83)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 1)
	g := compare.Compare(m.Results).Groups[0]
	if text := g.Answer().Text + g.Findings()[0]; strings.Contains(text, "core") {
		t.Errorf("one round claims what only several show of a core: %q", text)
	}
}

// One row under two names is found to be that, and a difference between the two is a warning.
func TestCopiesOfARow(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2.01, 2.02, 2, 2.01, 2.02)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 2.01, 2, 2.02, 2.01, 2, 2.02)
	c := compare.Compare(m.Results)
	wantNote(t, c, "copies", "differ in name only: 1.", "tell 0 of them apart")
	m.Rows[1] = *newMaker(6, 2).add(record.Setting{Strategy: "single", Workers: 1}, 3, 3.01, 3.02, 3, 3.01,
		3.02)
	m.Rows[1].Setting.Algorithm = "ring" // which the run chose
	wantNoNote(t, compare.Compare(m.Results), "copies")
	m.Rows[1].Copy = 1
	wantNote(t, compare.Compare(m.Results), "copies", "single 1×1 and single 1×1 (2) are one row",
		"differ: 0.67×")
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
	findings := strings.Join(compare.Compare(r).Groups[0].Findings(), "\n")
	for _, want := range []string{
		"On the same 2 cores, all-reduce 4×1 and one process (single 1×2) are not shown to differ: 1.05×",
	} {
		if !strings.Contains(findings, want) {
			t.Errorf("findings %q, want %q", findings, want)
		}
	}
}

// A speed-up is the median of the ratios in each round, and so is the order of findings. Where it contradicts
// the medians of the steps, the findings say so.
func TestSpeedupThatContradictsTheStep(t *testing.T) {
	for _, test := range []struct {
		steps []float64
		want  bool
	}{{[]float64{0.5, 3, 2.2}, true}, {[]float64{0.5, 1, 1.5}, false}} {
		m := newMaker(3, 4)
		m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 2, 3)
		m.add(record.Setting{Strategy: "ps", Workers: 2}, test.steps...)
		found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
		if got := strings.Contains(found, "contradicts the median steps: ps 2×1."); got != test.want {
			t.Errorf("steps %v: findings %s", test.steps, found)
		}
		if test.want && !strings.Contains(found, "apart: ps 2×1 and single 1×1") {
			t.Errorf("steps %v: not in the order of speed-ups: %s", test.steps, found)
		}
	}
}

// Neither of two rows is told from the first, yet they are told from each other: they are not said to be one
// block.
func TestRowsThatAreToldFromEachOtherAreNoBlock(t *testing.T) {
	m := newMaker(8, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4.01, 4.02, 4, 4.01, 4.02, 4, 4.01)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.7, 1.3, 0.71, 1.29, 0.72, 1.31, 0.7, 0.71)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 1, 1.01, 1, 1.01, 1, 1.01, 1, 1.01)
	m.add(record.Setting{Strategy: "gather-scatter", Workers: 2},
		1.05, 1.07, 1.06, 1.07, 1.05, 1.06, 1.06, 1.07)
	a := compare.Compare(m.Results).Groups[0].Answer()
	want := "all-reduce 2×1 and gather-scatter 2×1 cannot be told from ddp 2×1; their steps are the shortest"
	if !strings.HasPrefix(a.Text, want) || !strings.Contains(a.Why, "do not tell the first of these 3 rows") {
		t.Errorf("%q, %q; want %q", a.Text, a.Why, want)
	}
}

// A row whose runs vary much is told from nothing, although its step is longer than that of a row that is:
// the two are not said to have the shortest steps.
func TestNoisyRowsAreNotTheShortest(t *testing.T) {
	const rounds = 6
	m := newMaker(rounds, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4, 4.01, 4.02, 4, 4.01, 4.02)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2, 2.01, 2, 2.01, 2, 2.01)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2.4, 2.41, 2.4, 2.41, 2.4, 2.41)
	m.add(record.Setting{Strategy: "ps", Workers: 2}, 1.9, 3.4, 3, 1.8, 3.1, 3)
	g := compare.Compare(m.Results).Groups[0]
	a, finding := g.Answer(), g.Findings()[0]
	if want := "ps 2×1 cannot be told from ddp 2×1, whose step is 2"; !strings.HasPrefix(a.Text, want) ||
		!strings.HasPrefix(finding, "ps 2×1 cannot be told from ddp 2×1 (medians ") {
		t.Errorf("%q, %q; want %q", a.Text, finding, want)
	}
	m.Rows[0].Runs, m.Rows[3].Runs = m.Rows[3].Runs, m.Rows[0].Runs // now the baseline is the noisy one
	g = compare.Compare(m.Results).Groups[0]
	a, finding = g.Answer(), g.Findings()[0]
	if want := "than single 1×1: its step, "; !strings.Contains(a.Text, want) ||
		!strings.Contains(a.Text, "cannot be told from that of ddp 2×1, 2") || a.IsCertain {
		t.Errorf("%q, %q; want %q", a.Text, finding, want)
	}
}

// Of a few rounds that tell nothing, the answer says which row had the shortest step, what it cannot be told
// from, and what would tell; of many it says that none is shown to be faster than one process.
func TestTheShortestStepOfAFewRounds(t *testing.T) {
	for _, test := range []struct {
		rounds int
		steps  [3][]float64
		want   string
		why    string
	}{
		{3, [3][]float64{{4, 8, 4.1}, {2, 4.1, 3.9}, {10, 5, 18}}, "ddp 2×1 had the shortest step, " +
			"3900 ms, but 3 rounds cannot tell it from single 1×1 and ps 2×1, up to 10000 ms (--repeats 6).",
			"The rounds do not tell these 3 rows apart. Fewer than 6 rounds rarely do."},
		{2, [3][]float64{{2, 4}, {3, 5}, {4, 4.1}}, "single 1×1 had the shortest step, 3000 ms, but " +
			"2 rounds cannot tell it from ps 2×1 and ddp 2×1, up to 4050 ms (--repeats 6).", ""},
		// By the ratios in a round ddp is the first, by the medians it is not.
		{3, [3][]float64{{1, 2, 3}, {0.5, 3, 2.2}, {4, 9, 4}}, "ddp 2×1 was the fastest in the median " +
			"round, 1.36× as fast as single 1×1, but 3 rounds cannot " +
			"tell it from single 1×1 and ps 2×1 (--repeats 6).", "Fewer than 6 rounds rarely do."},
		// The baseline is told from the first.
		{5, [3][]float64{{9, 9.01, 9, 9, 9}, {2, 2.1, 2, 2.1, 2}, {2, 2.2, 2.3, 2.2, 2.5}}, "ddp 2×1 had " +
			"the shortest step, 2000 ms, 4.50× (3.75–5.20) as fast as single 1×1, but 5 rounds cannot tell " +
			"it from ps 2×1, 2200 ms (--repeats 6).",
			"The rounds do not tell these 2 rows apart. Fewer than 6 rounds rarely do."},
		{6, [3][]float64{{4, 8, 4, 8, 4, 4}, {2, 9, 4, 9, 2, 3}, {9, 5, 9, 5, 9, 5}}, "No way of training " +
			"is shown to be faster than single 1×1: its step, 4000 ms, cannot be told from that of ddp 2×1," +
			" 3500 ms.", ""},
	} {
		m := newMaker(test.rounds, 4)
		m.add(record.Setting{Strategy: "single", Workers: 1}, test.steps[0]...)
		m.add(record.Setting{Strategy: "ddp", Workers: 2}, test.steps[1]...)
		m.add(record.Setting{Strategy: "ps", Workers: 2}, test.steps[2]...)
		a := compare.Compare(m.Results).Groups[0].Answer()
		if !strings.HasPrefix(a.Text, test.want) || a.IsCertain || !strings.Contains(a.Why, test.why) {
			t.Errorf("%q, %q; want %q", a.Text, a.Why, test.want)
		}
	}
}

// A difference below the least is too close to call however sure the rounds are of it; the report says so.
func TestASmallDifferenceIsTooCloseToCall(t *testing.T) {
	for _, test := range []struct {
		step    float64 // of ddp, relative to single; the noise is 0.1 %
		decided bool
		says    string
	}{{0.985, false, "too close to call: perhaps less than 2 % apart, which another hour may turn"},
		{0.97, true, "ddp 2×1 has the shortest step"}, {1, false, "cannot be told apart"}} {
		random := rand.New(rand.NewPCG(4, 1))
		times := bench(20, 2, func(row int) float64 { return []float64{1, test.step}[row] },
			func() float64 { return math.Exp(0.001 * random.NormFloat64()) })
		m := newMaker(20, 2)
		m.isShort = true
		for row, name := range []string{"single", "ddp"} {
			m.add(record.Setting{Strategy: name, Workers: 1 + row}, times[row]...)
		}
		g := compare.Compare(m.Results).Groups[0]
		if got := g.Pairs[0].IsDecided(); got != test.decided {
			t.Errorf("step %v: decided %v, want %v (%v)", test.step, got, test.decided,
				g.Pairs[0].Ratio.Interval)
		}
		a := g.Answer()
		if a.IsCertain != test.decided || !strings.Contains(g.Findings()[0], test.says) {
			t.Errorf("step %v: %v, %q, want %q", test.step, a, g.Findings()[0], test.says)
		}
		if test.decided && strings.Count(a.Text, "as fast as") != 1 { // the next is the baseline
			t.Errorf("step %v: %q, want the ratio once", test.step, a.Text)
		}
		isClose := strings.Contains(test.says, "too close")
		if strings.Contains(a.Why, "too close to call: perhaps less than 2 %") != isClose {
			t.Errorf("step %v: the answer's reason is %q", test.step, a.Why)
		}
	}
}

// Two rows may be tied and yet both be told from the baseline: the answer says which half is certain.
func TestATieOfFasterRowsIsCertainInPart(t *testing.T) {
	for _, baseline := range []float64{2, 1} {
		random := rand.New(rand.NewPCG(4, 2))
		times := bench(10, 3, func(row int) float64 { return []float64{baseline, 1, 1}[row] },
			func() float64 { return math.Exp(0.03 * random.NormFloat64()) })
		m := newMaker(10, 2)
		for row, name := range []string{"single", "ddp", "all-reduce"} {
			m.add(record.Setting{Strategy: name, Workers: 1 + min(row, 1)}, times[row]...)
		}
		a := compare.Compare(m.Results).Groups[0].Answer()
		const why = "Each of these 2 rows is faster than single 1×1. The rounds do not tell "
		if a.IsCertain || a.IsFaster != (baseline > 1) || strings.HasPrefix(a.Why, why) != a.IsFaster {
			t.Errorf("single of %v times: %+v", baseline, a)
		}
	}
}

// Rows that cannot be told apart are in the order of their rounds. The medians beside them reach from the
// least to the greatest, whichever rows have them.
func TestMediansOfTiedRows(t *testing.T) {
	m := newMaker(6, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 8, 16, 8, 16, 8, 16)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2.5, 5.2, 2.5, 4, 2.6, 5.8)
	m.add(record.Setting{Strategy: "ps", Workers: 2}, 2.6, 4.2, 2.3, 5.8, 2.8, 4.6)
	m.add(record.Setting{Strategy: "all-reduce", Workers: 2}, 2.6, 4, 2.6, 4.8, 2.9, 5)
	const want = "ps 2×1, ddp 2×1 and all-reduce 2×1 have the shortest steps; they cannot be told apart " +
		"(medians from 3300 ms to 3500 ms)."
	if got := compare.Compare(m.Results).Groups[0].Findings()[0]; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// One core is called so, where rows are compared on it and where threads share it.
func TestOneCore(t *testing.T) {
	for want, step := range map[string]float64{
		"On the same core, ddp 2×1 is 2.00× (2.00–2.00) as fast as one process (single 1×1).":   1,
		"On the same core, ddp 2×1 and one process (single 1×1) are not shown to differ: 1.00×": 2,
	} {
		m := newMaker(6, 1)
		m.add(record.Setting{Strategy: "single", Workers: 1}, 2, 2, 2, 2, 2, 2)
		m.add(record.Setting{Strategy: "ddp", Workers: 2}, step, step, step, step, step, step)
		c := compare.Compare(m.Results)
		all := strings.Join(append(c.Groups[0].Findings(), c.Groups[0].Answer().Text), "\n")
		if !strings.Contains(all, want) || strings.Contains(all, "1 cores") {
			t.Errorf("%s\nwant %s", all, want)
		}
	}
}

// One process with the settings of the other row is what it is compared with, not a faster one with others.
func TestOneProcessOfTheSameSettings(t *testing.T) {
	m := newMaker(6, 2)
	one := record.Setting{Strategy: "single", Workers: 1}
	two := record.Setting{Strategy: "single", Workers: 1, Threads: 2}
	m.add(two, 6, 6.2, 6, 6.2, 6, 6.2)
	one.Options, two.Options = "checkpoint-every=10", "checkpoint-every=10"
	m.add(one, 7, 7.2, 7, 7.2, 7, 7.2)
	m.add(two, 5, 5.2, 5, 5.2, 5, 5.2)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 4, 4.1, 4, 4.1, 4, 4.1)
	found := strings.Join(compare.Compare(m.Results).Groups[0].Findings(), "\n")
	want := "On the same 2 cores, ddp 2×1 is 1.51× (1.50–1.51) as fast as one process (single 1×2)."
	if !strings.Contains(found, want) {
		t.Errorf("%s\nwant %s", found, want)
	}
}
