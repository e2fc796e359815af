package analysis_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// unsealed returns a measured benchmark of five rows in four rounds, as if an older version had written it.
func unsealed(t *testing.T) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "r3", "recipe", "results.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(plain)
	if err != nil {
		t.Fatal(err)
	}
	r.Seal = ""
	for i := range r.Rows {
		for _, runs := range [][]record.Run{r.Rows[i].Runs, r.Rows[i].Replaced} {
			for j := range runs {
				runs[j].Seal = ""
			}
		}
	}
	return r
}

// Without a seal a change is still found by what else the file tells of it.
func TestContradictionsWithoutSeal(t *testing.T) {
	seeded := func(r *record.Results) {
		for i := range r.Rows {
			r.Rows[i].Setting.Seed = 77
		}
	}
	for _, test := range []struct {
		name   string
		change func(*record.Results)
		want   string
	}{
		{"as it was", func(*record.Results) {}, ""},
		{"another seed", seeded, "its runs had the seed 1, and the row says 77"},
		{"a seed for all rounds", func(r *record.Results) {
			seeded(r)
			r.Command = []string{"lockstep", "bench", "--plan=mine.yaml"}
			r.Recipe = ""
		}, ""},
		{"no classes", func(r *record.Results) { r.Rows[1].Setting.Classes = 0 },
			"it tells no classes of the data set \"cifar10\""},
		{"no classes in any row", func(r *record.Results) {
			for i := range r.Rows {
				r.Rows[i].Setting.Classes = 0
			}
		}, "it tells no classes of the data set \"cifar10\""},
		{"no cores", func(r *record.Results) { r.Host.Cores = 0 }, "The machine has 0 cores"},
		{"a thousand times as long", func(r *record.Results) { r.Seconds *= 1000 },
			"The benchmark took 170020 s, and its last run ended after 170.016 s"},
		{"a quarter longer", func(r *record.Results) { r.Seconds *= 1.25 }, ""},
		{"no phases of a rank", func(r *record.Results) { r.Rows[1].Runs[0].Ranks[0].Steps.Phases = nil },
			"rank 3 tells the phases of its steps, and rank 0 does not"},
		{"no phases at all", func(r *record.Results) {
			for i := range r.Rows[1].Runs[0].Ranks {
				r.Rows[1].Runs[0].Ranks[i].Steps.Phases = nil
			}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := unsealed(t)
			test.change(r)
			got := ""
			for _, c := range analysis.Compare(r).Contradictions() {
				got += c.Text + "\n"
			}
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("contradictions %q, want %q", got, test.want)
			}
		})
	}
}

// What is told of a pause, of sittings and of runs without an end is no contradiction.
func TestLongBenchmarks(t *testing.T) {
	for name, change := range map[string]func(*record.Results){
		"sittings": func(r *record.Results) {
			r.Sittings = []record.Sitting{{Started: r.Started, Seconds: r.Seconds, Version: r.Version,
				Revision: r.Revision, Host: r.Host, Load: r.Load}}
		},
		"interrupted": func(r *record.Results) { r.Complete = false },
	} {
		r := unsealed(t)
		r.Seconds *= 1000
		change(r)
		for _, c := range analysis.Compare(r).Contradictions() {
			if strings.Contains(c.Text, "its last run ended") {
				t.Errorf("%s: %s", name, c.Text)
			}
		}
	}
}
