package claim_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/claim"
	"lockstep/app/record"
)

// measured returns the results of a real benchmark: four strategies and one process on two cores, three
// rounds.
func measured(t *testing.T) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "r3", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// packed returns the results of a file that gzip has packed.
func packed(t *testing.T, path string) *record.Results {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	r, err := record.Decode(plain)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// strategies returns the first rows of a benchmark with servers, options and conditions: r4-strategies, as if
// there had been no others.
func strategies(t *testing.T) []byte {
	t.Helper()
	r := packed(t, filepath.Join("..", "..", "results", "r4", "results.json.gz"))
	r.Rows = r.Rows[:16]
	var runs []*record.Run
	for i := range r.Rows {
		r.Rows[i].Replaced = nil
		for j := range r.Rows[i].Runs {
			runs = append(runs, &r.Rows[i].Runs[j])
		}
	}
	slices.SortFunc(runs, func(a, b *record.Run) int { return a.Position - b.Position })
	for i, run := range runs {
		run.Position = i
	}
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// row returns the first row with a strategy and options.
func row(t *testing.T, r *record.Results, strategy, options string) *record.Row {
	t.Helper()
	i := slices.IndexFunc(r.Rows, func(row record.Row) bool {
		return row.Setting.Strategy == strategy && row.Setting.Options == options
	})
	if i < 0 {
		t.Fatalf("no row %s %s", strategy, options)
	}
	return &r.Rows[i]
}

// Strategies whose ranks do not all take every step are not spared, nor are options of a row.
func TestDoctoredStrategies(t *testing.T) {
	text := strategies(t)
	decoded := func() *record.Results {
		r, err := record.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := checkOwn(t, decoded()); r.IsRefused() {
		t.Fatalf("refused as it was measured:\n%s", render(r))
	}
	for _, c := range []struct {
		name   string
		doctor func(r *record.Results)
		want   string
	}{
		{"samples with a server", func(r *record.Results) { row(t, r, "ps", "").Runs[0].Samples /= 2 },
			"together, the run on"},
		{"samples of asynchronous workers",
			func(r *record.Results) { row(t, r, "ps-async", "").Runs[0].Samples /= 2 },
			"together, the run on"},
		{"steps of asynchronous workers",
			func(r *record.Results) { row(t, r, "ps-async", "").Runs[0].Steps /= 2 }, "raw samples of"},
		{"samples of averaged weights", func(r *record.Results) {
			row(t, r, "local-sgd", "average-every=10").Runs[0].Samples *= 2
		}, "together, the run on"},
		{"samples of one rank", func(r *record.Results) {
			row(t, r, "ddp", "").Runs[0].Ranks[1].Steps.Samples[3] /= 2
		}, "rank 1 tells of other samples in a step than rank 0"},
		{"options cut", func(r *record.Results) { row(t, r, "ps", "servers=2").Setting.Options = "" },
			"rows, rounds or labels were moved"},
		{"options cut, and folders", func(r *record.Results) {
			cut := row(t, r, "ddp", "overlap-forward")
			cut.Setting.Options = ""
			for i := range cut.Runs {
				cut.Runs[i].Directory = ""
			}
		}, "labels were cut"},
		{"options changed", func(r *record.Results) {
			row(t, r, "ps", "servers=2").Setting.Options = "servers=3"
		}, `it was run with servers "2", the row says "3"`},
		{"option put on", func(r *record.Results) {
			row(t, r, "ddp", "").Setting.Options = "overlap-forward"
		}, `it was run with overlap-forward "false", the row says "true"`},
		{"condition cut", func(r *record.Results) {
			for i := range r.Rows {
				r.Rows[i].Setting.SlowWorkers = ""
			}
		}, `it was run with slow-worker "1:3", the row says ""`},
		{"another accuracy", func(r *record.Results) {
			*row(t, r, "ddp", "").Runs[0].TestAccuracy += 0.0003
		}, "is no whole number of 2000 answers"},
		{"another whole accuracy", func(r *record.Results) {
			*row(t, r, "ddp", "").Runs[0].TestAccuracy += 0.1
		}, "its last evaluation has an accuracy of"},
		{"a disturbed run removed", func(r *record.Results) { row(t, r, "ddp", "").Runs[0].Position = 900 },
			"runs were removed, or put in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := decoded()
			c.doctor(r)
			report := checkOwn(t, r)
			if text := render(report); !report.IsRefused() || !strings.Contains(text, c.want) {
				t.Errorf("want %q in\n%s", c.want, text)
			}
		})
	}
}

// A benchmark that is resumed from anywhere has rows with the path that was given, and runs with the whole
// one.
func TestPathsOfDataMayBeWhole(t *testing.T) {
	for _, c := range []struct {
		ran, says string
		isOther   bool
	}{
		{"/home/me/img", "img", false}, {"/home/me/img", "./img/", false}, {"/home/img", "../img", false},
		{"/home/me", "..", false}, {"/home/me/img", "me/img", false},
		{"/home/me/img", "mg", true}, {"/home/me/img", "/home/you/img", true}, {"me/img", "img", true},
	} {
		r := measured(t)
		for i := range r.Rows {
			r.Rows[i].Setting.Data = c.says
			for j := range r.Rows[i].Runs {
				run, config := &r.Rows[i].Runs[j], map[string]any{}
				if err := json.Unmarshal(run.Config, &config); err != nil {
					t.Fatal(err)
				}
				config["data"] = c.ran
				run.Config, _ = json.Marshal(config) // it was decoded
			}
		}
		if text := render(checkOwn(t, r)); strings.Contains(text, "it was run with data") != c.isOther {
			t.Errorf("%s run with %s: want refused %v, got\n%s", c.says, c.ran, c.isOther, text)
		}
	}
}

func checkOwn(t *testing.T, r *record.Results) *claim.Report {
	t.Helper()
	var b bytes.Buffer
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	d, err := claim.Read(&b, "results.json")
	if err != nil {
		t.Fatal(err)
	}
	return claim.Check(d)
}

func TestMeasuredResultsAreNotRefused(t *testing.T) {
	r := checkOwn(t, measured(t))
	if r.IsRefused() || r.Rows != 5 {
		t.Errorf("%d rows\n%s", r.Rows, render(r))
	}
}

// Every benchmark among the results of this repository passes, those beside another program included.
func TestResultsOfTheRepositoryAreNotRefused(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "results", "*", "*", "results.json.gz"))
	more, failed := filepath.Glob(filepath.Join("..", "..", "results", "*", "results.json.gz"))
	if paths = append(paths, more...); err != nil || failed != nil || len(paths) < 2 {
		t.Fatalf("%v, %v, %v", paths, err, failed)
	}
	for _, path := range paths {
		if found := checkOwn(t, packed(t, path)); found.IsRefused() {
			t.Errorf("%s:\n%s", path, render(found))
		}
	}
}

// Each way of changing the figures of a file contradicts others in it.
func TestDoctoredResults(t *testing.T) {
	scale := func(x []float64, f float64) {
		for i := range x {
			x[i] *= f
		}
	}
	for _, c := range []struct {
		name   string
		doctor func(r *record.Results)
		want   string
	}{
		{"samples of a run halved", func(r *record.Results) { r.Rows[4].Runs[0].Samples /= 2 },
			"its steps trained on 10240 samples together, the run on 5120"},
		{"samples of its steps halved too", func(r *record.Results) {
			run := &r.Rows[4].Runs[0]
			run.Samples /= 2
			for _, rank := range run.Ranks {
				for i := range rank.Steps.Samples {
					rank.Steps.Samples[i] /= 2
				}
			}
		}, "step 1 trained on 128 samples, which are no batches of 256"},
		{"and the batch of the row", func(r *record.Results) { r.Rows[4].Setting.Batch /= 2 },
			`it was run with batch "256", the row says "128"`},
		{"one rank's time", func(r *record.Results) { scale(r.Rows[4].Runs[1].Ranks[2].Steps.Seconds, 0.9) },
			"step 1 of rank 2 took"},
		{"one step of one rank",
			func(r *record.Results) { r.Rows[4].Runs[1].Ranks[2].Steps.Seconds[7] *= 0.9 },
			"step 8 of rank 2 took"},
		{"one rank's time with its phases", func(r *record.Results) {
			rank := r.Rows[4].Runs[1].Ranks[2]
			scale(rank.Steps.Seconds, 0.7)
			for _, phase := range rank.Steps.Phases {
				scale(phase, 0.7)
			}
		}, "is synchronous, yet a step takes rank 2"},
		{"a projection without samples", func(r *record.Results) {
			row := r.Rows[4]
			row.Setting.Workers, row.Runs = 8, append([]record.Run(nil), row.Runs...)
			for i := range row.Runs {
				row.Runs[i].Ranks, row.Runs[i].Config, row.Runs[i].Directory = nil, nil, ""
			}
			r.Rows = append(r.Rows, row)
		}, "it has no raw samples, so nothing was measured"},
		{"a projection from another row", func(r *record.Results) {
			row := r.Rows[4]
			row.Runs = nil
			for _, run := range r.Rows[4].Runs {
				run.Config, run.Directory = nil, ""
				run.Ranks = append([]record.Rank(nil), run.Ranks...)
				for i := range run.Ranks {
					s := &run.Ranks[i].Steps
					s.Seconds, s.Phases = append(record.Numbers(nil), s.Seconds...), nil
					scale(s.Seconds, 0.5)
				}
				row.Runs = append(row.Runs, run)
			}
			r.Rows = append(r.Rows, row)
		}, "its step times are those of Row 5 (ddp 4×1), round 1 times one factor"},
		{"a projection of equal steps", func(r *record.Results) {
			s := &r.Rows[4].Runs[0].Ranks[0].Steps
			s.Phases = nil
			for i := range s.Seconds {
				s.Seconds[i] = 0.1
			}
		}, "took 100 ms to the last digit"},
		{"labels cut", func(r *record.Results) { r.Rows[3].Setting.Strategy = "all" },
			`it was run with strategy "all-reduce", the row says "all"`},
		{"a repeat removed", func(r *record.Results) { r.Rows[1].Runs = r.Rows[1].Runs[:2] },
			"has 2 of 3 runs, although the benchmark was complete"},
		{"two rows swapped", func(r *record.Results) { r.Rows[2], r.Rows[3] = r.Rows[3], r.Rows[2] },
			"rows, rounds or labels were moved"},
		{"the figures of two rows swapped", func(r *record.Results) {
			r.Rows[2].Runs, r.Rows[4].Runs = r.Rows[4].Runs, r.Rows[2].Runs
		}, `it was run with strategy "ddp", the row says "gather-scatter"`},
		{"a shorter run", func(r *record.Results) { r.Rows[1].Runs[0].Seconds = 10 },
			"the steps of rank 0 took 24.13 s together, the run 10 s"},
		{"a shorter epoch", func(r *record.Results) { r.Rows[1].Runs[0].EpochSeconds = record.Numbers{20} },
			"the steps of rank 0 in epoch 1 took"},
		{"fewer steps", func(r *record.Results) { r.Rows[1].Runs[0].Steps = 30 },
			"raw samples of 40 steps, 30 were done"},
		{"a repeat removed, and said to be for the budget", func(r *record.Results) {
			r.Rows[1].Runs, r.Complete, r.CutShort = r.Rows[1].Runs[:2], false, true
		}, "runs were removed, or put in"},
		{"a run put in twice", func(r *record.Results) {
			r.Rows[1].Runs[2].Position = r.Rows[1].Runs[1].Position
		}, "runs were removed, or put in"},
		{"a run put in between", func(r *record.Results) {
			run := &r.Rows[1].Runs[2]
			run.Started = run.Started.Add(-20 * time.Second)
		}, "had ended at"},
		{"one rank's time by a little, with its phases", func(r *record.Results) {
			for i := range r.Rows[4].Runs[1].Ranks { // as runs are recorded now
				s := &r.Rows[4].Runs[1].Ranks[i].Steps
				for _, v := range s.Seconds {
					s.Usage = append(s.Usage, v+2e-4)
				}
			}
			rank := r.Rows[4].Runs[1].Ranks[2]
			scale(rank.Steps.Seconds, 0.96)
			for _, phase := range rank.Steps.Phases {
				scale(phase, 0.96)
			}
		}, "a step of rank 2 took"},
		{"one rank's time made longer", func(r *record.Results) {
			s := &r.Rows[4].Runs[1].Ranks[2].Steps
			for _, v := range s.Seconds {
				s.Usage = append(s.Usage, v+2e-4)
			}
			scale(s.Seconds, 1.01)
		}, "step 1 of rank 2 took"},
		{"another learning rate", func(r *record.Results) { r.Rows[1].Setting.LR *= 2 },
			`it was run with lr "0.02", the row says "0.04"`},
		{"another seed", func(r *record.Results) { r.Rows[1].Runs[1].Seed = 7 },
			`it was run with seed "1", the row says "7"`},
		{"a rank removed", func(r *record.Results) { r.Rows[4].Runs[0].Ranks = r.Rows[4].Runs[0].Ranks[:3] },
			"3 ranks tell of their steps, the row has 4 workers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := measured(t)
			c.doctor(r)
			report := checkOwn(t, r)
			if text := render(report); !report.IsRefused() || !strings.Contains(text, c.want) {
				t.Errorf("want %q in\n%s", c.want, text)
			}
		})
	}
}

// Reports of our own pass the check that other people's have to.
func TestOwnPagesAreNotRefused(t *testing.T) {
	for _, path := range []string{"results/r3/report.md", "app/report/testdata/report.md",
		"results/lab/README.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if r := check(t, path, string(text)); r.IsRefused() || r.Rows == 0 {
			t.Errorf("%s, %d rows:\n%s", path, r.Rows, render(r))
		}
	}
}
