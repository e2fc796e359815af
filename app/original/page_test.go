package original_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/original"
	"lockstep/app/record"
	"lockstep/app/report"
)

// measured returns the results of a real benchmark, labelled as that of a recipe.
func measured(t *testing.T, recipe string) *record.Results {
	t.Helper()
	return stored(t, recipe, "r3", "results.json")
}

// twice returns results with each round once more: three decide nothing.
func twice(r *record.Results) *record.Results {
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, run := range row.Runs {
			run.Round += r.Rounds
			row.Runs = append(row.Runs, run)
		}
	}
	r.Rounds *= 2
	return r
}

// stored returns the results in a file of the tree, labelled as those of a recipe.
func stored(t *testing.T, recipe string, path ...string) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{"..", "..", "results"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if filepath.Ext(f.Name()) == ".gz" {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	r.Recipe = recipe
	return r
}

// pageOf returns the page of results that nobody has compared before.
func pageOf(r *record.Results) (report.Extra, bool) { return original.Page(r, compare.Compare(r)) }

// Every recipe has a page, whatever rows there are: the original's figures, what it leaves open.
func TestPages(t *testing.T) {
	for _, name := range original.Names() {
		page, ok := pageOf(measured(t, name))
		if !ok || len(page.Tables) != 2 || len(page.Findings) != 1 {
			t.Fatalf("%s: %v, %d tables, findings %q", name, ok, len(page.Tables), page.Findings)
		}
		for _, table := range page.Tables {
			if len(table.Rows) == 0 {
				t.Errorf("%s: %s is empty", name, table.Title)
			}
			for _, row := range table.Rows {
				if len(row) != len(table.Head) {
					t.Errorf("%s: %s: row %q", name, table.Title, row)
				}
			}
		}
	}
	if _, ok := pageOf(measured(t, "r4-strategies")); ok {
		t.Error("a page for a recipe without an original")
	}
}

// Ours decide what they can: four workers of a real benchmark on two cores.
func TestPageOfR3(t *testing.T) {
	page, _ := pageOf(measured(t, "r3"))
	var text strings.Builder
	for _, table := range page.Tables {
		for _, row := range table.Rows {
			text.WriteString(strings.Join(row, " | ") + "\n")
		}
	}
	for _, want := range []string{
		"gather-scatter: s/iteration | 1.745 (ranks 1 to 3), 1.174 (rank 0) | ",
		"with gather-scatter 4×1 a step takes ",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// answers returns what ours say about the sentences of a page, by their beginnings.
func answers(t *testing.T, r *record.Results, sentence string) string {
	t.Helper()
	page, _ := pageOf(r)
	for _, row := range page.Tables[1].Rows {
		if strings.HasPrefix(row[0], sentence) {
			return row[1]
		}
	}
	t.Fatalf("no sentence begins with %q", sentence)
	return ""
}

// again repeats the rounds of results.
func again(r *record.Results) {
	for i := range r.Rows {
		for _, run := range slices.Clone(r.Rows[i].Runs) {
			run.Round += r.Rounds
			r.Rows[i].Runs = append(r.Rows[i].Runs, run)
		}
	}
	r.Rounds *= 2
}

// A factor is judged by the interval of the rounds: to be faster is not to be 1.78 times as fast.
func TestFactorsAreJudgedByTheirIntervals(t *testing.T) {
	r := measured(t, "r1")
	r.Rows[4].Setting.Workers = 2 // ddp, 1.69 (1.53 to 1.89) times as fast as one
	for _, sentence := range []string{"two workers are 1.78", "two workers are 2.02"} {
		if got := answers(t, r, sentence); !strings.HasPrefix(got, "not decided: ddp 2×1 is 1.") {
			t.Errorf("three rounds: %s: %s", sentence, got)
		}
	}
	again(r)
	if got := answers(t, r, "two workers are 1.78"); !strings.HasPrefix(got, "not decided: ") {
		t.Errorf("a wide interval: %s", got)
	}
	if got := answers(t, r, "two workers are 2.02"); !strings.HasPrefix(got, "does not hold here: ") {
		t.Errorf("a factor outside of it: %s", got)
	}
}

// A loss below that of guessing is not yet convergence, and one at it is none.
func TestConvergenceIsNotShownByOneLoss(t *testing.T) {
	r := measured(t, "r2")
	s := &r.Rows[3].Setting
	s.Workers, s.Wire = 2, "deflate"
	got := answers(t, r, "the loss falls below")
	if !strings.HasPrefix(got, "not decided: the loss is 1.") {
		t.Errorf("a falling loss: %s", got)
	}
	for _, rank := range r.Rows[3].Runs[0].Ranks {
		for i := range rank.Steps.Loss {
			rank.Steps.Loss[i] = 2.33
		}
	}
	if got := answers(t, r, "the loss falls below"); !strings.HasPrefix(got, "does not hold here: ") {
		t.Errorf("the loss of guessing: %s", got)
	}
}

// Three runs of each row that do not overlap are no finding.
func TestFewTotalsDecideNothing(t *testing.T) {
	r := measured(t, "r4")
	for i, batch := range []int{256, 32, 64} {
		s := &r.Rows[i].Setting
		s.Strategy, s.Workers, s.Batch = "single", 1, batch
	}
	if got := answers(t, r, "batch 32 takes"); !strings.HasPrefix(got, "not decided: totals ") {
		t.Error(got)
	}
}

// Totals of other batches are compared only if they are of equal samples, and called different only if so
// many runs of each are in order that this is no chance.
func TestTotalsOfBatches(t *testing.T) {
	for _, c := range []struct {
		runs    int
		factors [3]float64 // of the times with batches of 32, 64 and 256
		samples int64      // left out of the first row
		want    string
	}{
		{4, [3]float64{0.5, 1, 0.9}, 0, "holds here: totals "},
		{4, [3]float64{2, 1, 0.9}, 0, "does not hold here: totals "},
		{4, [3]float64{0.99, 1, 1.2}, 0, "not decided: totals "},
		{3, [3]float64{0.5, 1, 0.9}, 0, "not decided: totals "},
		{4, [3]float64{0.5, 1, 0.9}, 256, "not measured: the rows trained on 9984 and 10240 samples"},
	} {
		r := measured(t, "r4")
		single := r.Rows[0]
		r.Rows, r.Rounds = nil, c.runs
		for i, batch := range []int{32, 64, 256} {
			row := record.Row{Setting: single.Setting}
			row.Setting.Batch = batch
			for round := range c.runs {
				run := single.Runs[0]
				run.Round, run.Position = round, round*3+i
				run.Seconds = 50 * c.factors[i] * (1 + 0.02*float64(round))
				if i == 0 {
					run.Samples -= c.samples
				}
				row.Runs = append(row.Runs, run)
			}
			r.Rows = append(r.Rows, row)
		}
		if got := answers(t, r, "batch 32 takes less time than 64 and 256"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d runs, %v: %q, want %q", c.runs, c.factors, got, c.want)
		}
	}
}

// One round has no interval, and decides nothing.
func TestPageOfOneRound(t *testing.T) {
	r := measured(t, "r3")
	r.Rounds = 1
	for i := range r.Rows {
		r.Rows[i].Runs = r.Rows[i].Runs[:1]
	}
	got := answers(t, r, "rank 0 limits")
	if !strings.HasPrefix(got, "not decided: ") || !strings.Contains(got, "(1 round)") {
		t.Errorf("%q", got)
	}
	one := wired(t, 0.02, 0.75)
	for i := range one.Rows {
		one.Rows[i].Runs = one.Rows[i].Runs[:1]
	}
	got = answers(t, one, "two workers wait little for the exchange")
	if !strings.HasPrefix(got, "not decided: ") || !strings.Contains(got, "in the one run of all-reduce") {
		t.Errorf("a share of one run: %q", got)
	}
	page, _ := pageOf(r)
	for _, table := range page.Tables {
		for _, row := range table.Rows {
			if strings.Contains(strings.Join(row, " "), "NaN") {
				t.Errorf("%s: %q", table.Title, row)
			}
		}
	}
}

// figure returns ours of a quantity.
func figure(t *testing.T, r *record.Results, what string) string {
	t.Helper()
	page, _ := pageOf(r)
	for _, row := range page.Tables[0].Rows {
		if row[0] == what {
			return row[2]
		}
	}
	t.Fatalf("no quantity %q", what)
	return ""
}

// The time of an epoch says of how many samples it is, which the original's may not be.
func TestEpochsTellTheirSamples(t *testing.T) {
	r := stored(t, "r1", "r1", "results.json.gz")
	if got, want := figure(t, r, "epoch, one"), " s of 768 samples"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want the end %q", got, want)
	}
	if got := figure(t, measured(t, "r1"), "epoch, one"); got != "–" {
		t.Errorf("%q of a run without a whole epoch", got)
	}
}

// A serial fraction says what more cores do not shorten, so not what another math does.
func TestNoSerialFractionAcrossMaths(t *testing.T) {
	r := stored(t, "r1", "r1", "results.json.gz")
	const what = "serial fraction"
	if got := figure(t, r, what); !strings.HasSuffix(got, " %") {
		t.Errorf("%q of one math", got)
	}
	for i := range r.Rows[1].Runs {
		run := &r.Rows[1].Runs[i]
		run.Config = bytes.Replace(run.Config, []byte(`"math":"fast"`), []byte(`"math":"bf16x3"`), 1)
	}
	if got := figure(t, r, what); got != "–" {
		t.Errorf("%q across maths", got)
	}
	if got := figure(t, r, "speed-up of two"); got == "–" {
		t.Error("no speed-up across maths")
	}
}

// Each of our figures leads to the runs that it is from.
func TestFiguresLeadToRuns(t *testing.T) {
	r := measured(t, "r3")
	page, _ := pageOf(r)
	folder := t.TempDir()
	if err := report.Benchmark(r, page).Write(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), `<section id="original"`)
	section, _, _ = strings.Cut(section, "</section>")
	for _, want := range []string{`<a href="#g1-A">single 1×1</a>`, `<a href="#g1-D">all-reduce 4×1</a>`} {
		if !strings.Contains(section, want) {
			t.Errorf("no %s", want)
		}
	}
	if !strings.Contains(string(text), `id="g1-D"`) {
		t.Error("no runs of row D")
	}
}

// onOneHost returns a copy of a row of two workers on two hosts, as if they were on one and took so many
// times as long.
func onOneHost(row record.Row, times float64) record.Row {
	row.Setting.Hosts, row.Setting.PerHost = 1, 2
	row.Runs = slices.Clone(row.Runs)
	for i := range row.Runs {
		run := &row.Runs[i]
		run.Ranks = slices.Clone(run.Ranks)
		for j := range run.Ranks {
			steps := &run.Ranks[j].Steps
			steps.Seconds = slices.Clone(steps.Seconds)
			for k := range steps.Seconds {
				steps.Seconds[k] *= times
			}
		}
	}
	return row
}

// Workers that share cores wait for one another because of that, too: no network is to blame. Nor is it where
// two hosts are not slower than one.
func TestWaitingForCoresIsNoNetwork(t *testing.T) {
	r := twice(measured(t, "r4"))
	for i := range r.Rows {
		s := &r.Rows[i].Setting
		if s.Batch, s.Hosts, s.PerHost = 64, 2, 1; s.Strategy == "all-reduce" {
			s.Workers = 2
			for j := range r.Rows[i].Runs {
				r.Rows[i].Runs[j].Ranks = r.Rows[i].Runs[j].Ranks[:2]
			}
		}
	}
	const sentence = "two nodes are slower because workers wait"
	if got := answers(t, r, sentence); !strings.HasPrefix(got, "not measured: ") {
		t.Errorf("without a row on one host: %q", got)
	}
	at := slices.IndexFunc(r.Rows, func(row record.Row) bool { return row.Setting.Strategy == "all-reduce" })
	r.Rows = append(r.Rows, onOneHost(r.Rows[at], 1.5))
	if got := answers(t, r, sentence); !strings.HasPrefix(got, "does not hold here: a step of ") {
		t.Errorf("two hosts are faster: %q", got)
	}
	r.Rows[len(r.Rows)-1] = onOneHost(r.Rows[at], 0.5)
	if got := answers(t, r, sentence); !strings.HasPrefix(got, "holds here: ") {
		t.Errorf("two workers on two cores: %q", got)
	}
	r.Host.Cores = 1
	if got := answers(t, r, sentence); !strings.HasPrefix(got, "not decided: ") {
		t.Errorf("two workers on one core: %q", got)
	}
}

// wired returns the results as if two rows were all-reduce of two workers over sockets: the first without
// compression, the second with, and waiting for these shares of a step.
func wired(t *testing.T, plain, packed float64) *record.Results {
	t.Helper()
	r := measured(t, "r2")
	shares := []float64{plain, packed}
	for i, wire := range []string{"", "deflate"} {
		row := &r.Rows[2+i]
		row.Setting.Strategy, row.Setting.Workers, row.Setting.Wire = "all-reduce", 2, wire
		for j := range row.Runs {
			row.Runs[j].Ranks = row.Runs[j].Ranks[:2]
			for _, rank := range row.Runs[j].Ranks {
				for at, whole := range rank.Steps.Seconds {
					for name := range rank.Steps.Phases {
						rank.Steps.Phases[name][at] = 0
					}
					rank.Steps.Phases["forward"][at] = (1 - shares[i]) * whole
					rank.Steps.Phases["sync_exposed"][at] = shares[i] * whole
				}
			}
		}
	}
	return r
}

// Waiting for an exchange holds its compression: only the row without one tells of the network.
func TestCompressionIsNoNetwork(t *testing.T) {
	const sentence = "two workers wait little for the exchange"
	for _, test := range []struct {
		plain, packed float64
		want          string
	}{{0.02, 0.75, "not decided: "}, {0.5, 0.75, "does not hold here: "}, {0.02, 0.03, "holds here: "}} {
		got := answers(t, wired(t, test.plain, test.packed), sentence)
		if !strings.HasPrefix(got, test.want) || !strings.Contains(got, "with compression, whose time") {
			t.Errorf("%v and %v: %q, want %q", test.plain, test.packed, got, test.want)
		}
	}
}
