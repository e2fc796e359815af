package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/random"
)

// interruptedAfter is pretend until so many runs have ended; the next one is cancelled and leaves its folder.
func interruptedAfter(n int, cancel context.CancelFunc) func(context.Context, bench.Row, launcher.Options) (
	*record.Summary, error) {
	return func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
		if n--; n < 0 {
			cancel()
			if err := os.MkdirAll(c.Out, 0o755); err != nil {
				return nil, err
			}
			return nil, os.WriteFile(filepath.Join(c.Out, "steps.jsonl"), []byte(`{"rank":0,"st`), 0o644)
		}
		return pretend(ctx, c, o)
	}
}

// interrupt runs a benchmark of 3 rows and 2 rounds in folder until so many runs have ended.
func interrupt(t *testing.T, folder string, n int) {
	t.Helper()
	c := matrix([]string{"lenet"}, []string{"single", "ddp:bucket=64KiB"}, 1, 2)
	c.Repeats, c.Out = 2, folder
	c.Parts[0].Conditions = []bench.Condition{{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := bench.Run(ctx, c, bench.Options{Execute: interruptedAfter(n, cancel),
		Label: record.Results{Version: "1", Command: []string{"lockstep", "bench"}}})
	if !errors.Is(err, context.Canceled) || r.Complete {
		t.Fatalf("error %v, want a cancelled benchmark", err)
	}
}

// A benchmark that is interrupted anywhere goes on with the runs that are left, and says so.
func TestResume(t *testing.T) {
	for n := range 6 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "out")
			interrupt(t, folder, n)
			var ran []string
			r, err := bench.Resume(t.Context(), folder, 0, nil, bench.Options{
				Label: record.Results{Version: "2"},
				Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
					ran = append(ran, c.Name())
					return pretend(ctx, c, o)
				}})
			if err != nil {
				t.Fatal(err)
			}
			order := []string{"lenet single 1×1", "lenet single 1×2", "lenet ddp 2×1 bucket=64KiB",
				"lenet ddp 2×1 bucket=64KiB", "lenet single 1×2", "lenet single 1×1"}
			if !slices.Equal(ran, order[n:]) {
				t.Errorf("ran %v, want %v", ran, order[n:])
			}
			if !r.Complete || len(r.Sittings) != 2 || r.Sittings[1].First != n || r.Version != "1" {
				t.Errorf("complete %v, sittings %+v, version %s", r.Complete, r.Sittings, r.Version)
			}
			saved, err := report.Read(folder)
			if err != nil {
				t.Fatal(err)
			}
			checkPositions(t, saved, 6)
			if c := compare.Compare(saved); !tells(c, "resumed elsewhere") {
				t.Error("no caution tells of the other version")
			}
		})
	}
}

// A benchmark whose data are changed while it is interrupted, or while it runs, ends at the first run that
// had other samples than those of its row before.
func TestChangedDataEndTheBenchmark(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	interrupt(t, folder, 0)
	runs := 0
	r, err := bench.Resume(t.Context(), folder, 0, nil, bench.Options{
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			s, err := pretend(ctx, c, o)
			s.DataSHA256 = record.DataHash{Train: "aaaa", Test: "bbbb"}
			if runs++; runs > 2 { // of the third row, and of the second round
				s.DataSHA256.Test = "cccc"
			}
			return s, err
		}})
	const want = "the data has changed: training and test samples have sha256 aaaa and cccc, those of " +
		"the runs so far sha256 aaaa and bbbb; put the data back as it was"
	if job.ExitCode(err) != job.ExitData || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error %v, want %q and status %d", err, want, job.ExitData)
	}
	checkPositions(t, r, 4)
	if r.Complete {
		t.Error("complete")
	}
}

// checkPositions requires that the runs have each position once, and no run too few.
func checkPositions(t *testing.T, r *record.Results, want int) {
	t.Helper()
	var got []int
	for _, row := range r.Rows {
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			got = append(got, run.Position)
		}
	}
	slices.Sort(got)
	if len(got) != want || slices.Compact(slices.Clone(got))[len(got)-1] != want-1 {
		t.Errorf("positions %v, want 0 to %d once each", got, want-1)
	}
}

// tells reports whether a rule finds something.
func tells(c *compare.Comparison, rule string) bool {
	return slices.ContainsFunc(c.Findings, func(f finding.Finding) bool { return f.Rule == rule })
}

// A benchmark that has ended has nothing left; resuming it changes none of its runs.
func TestResumeOfACompleteBenchmark(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	interrupt(t, folder, 5)
	for range 2 {
		r, err := bench.Resume(t.Context(), folder, 0, nil, bench.Options{Execute: pretend})
		if err != nil || !r.Complete {
			t.Fatalf("%v, complete %v", err, r.Complete)
		}
		checkPositions(t, r, 6)
	}
}

// A run that failed is done again; the failure stays in the raw data.
func TestResumeRepeatsFailures(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	c.Out = filepath.Join(t.TempDir(), "out")
	_, err := bench.Run(t.Context(), c, bench.Options{
		Execute: func(context.Context, bench.Row, launcher.Options) (*record.Summary, error) {
			return nil, errors.New("no space")
		}})
	if err == nil {
		t.Fatal("no error")
	}
	r, err := bench.Resume(t.Context(), c.Out, 0, nil, bench.Options{Execute: pretend})
	if err != nil {
		t.Fatal(err)
	}
	row := r.Rows[0]
	if len(row.Runs) != 1 || len(row.Replaced) != 1 || row.Runs[0].Error != "" ||
		row.Replaced[0].Error == "" {
		t.Errorf("runs %+v, replaced %+v", row.Runs, row.Replaced)
	}
	if !tells(compare.Compare(r), "repeated") {
		t.Error("no fact tells of the failure")
	}
}

func TestResumeRefuses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	interrupt(t, folder, 2)
	path := filepath.Join(folder, bench.PlanFile)
	plan, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(was, is string) string { return strings.ReplaceAll(string(plan), was, is) }
	for want, text := range map[string]string{
		"plan.json: there is none":      "",
		"invalid character":             "{!",
		"schema 9, this program reads":  `{"schema":9}`,
		"this is no plan":               `{"schema":3,"rows":[],"repeats":1,"copies":1}`,
		"rows, its plan 1":              firstRow(string(plan)),
		`condition "fast"`:              replace(`"options":`, `"condition":"fast","options":`),
		"the length is given twice":     replace(`"batch":64`, `"for":"1000h","batch":64`),
		"row 1 (lenet single 1×1): bat": strings.Replace(string(plan), `"batch":64`, `"batch":-1`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			os.Remove(path)
		}
		_, err := bench.Resume(t.Context(), folder, 0, nil, bench.Options{Execute: pretend})
		var bad *setting.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %q", err, want)
		}
	}
}

// firstRow returns a plan without its other rows.
func firstRow(plan string) string {
	first := strings.Index(plan, `},{"config"`)
	last := strings.LastIndex(plan, `],"repeats"`)
	return plan[:first+1] + plan[last:]
}

// A folder is resumed by one process at a time.
func TestResumeOfABenchmarkThatGoesOn(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	interrupt(t, folder, 2)
	_, err := bench.Resume(t.Context(), folder, 0, nil, bench.Options{
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			_, err := bench.Resume(ctx, folder, 0, nil, bench.Options{Execute: pretend})
			if err == nil || !strings.Contains(err.Error(), "still going on") {
				t.Errorf("error %v, want one about the other process", err)
			}
			return pretend(ctx, c, o)
		}})
	if err != nil {
		t.Fatal(err)
	}
}

// disturbedRuns is pretend with the share that others take of each run, by its number; 0 afterwards.
func disturbedRuns(shares ...float64) func(context.Context, bench.Row, launcher.Options) (*record.Summary,
	error) {
	n := 0
	return func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
		s, err := pretend(ctx, c, o)
		if err == nil {
			s.Taken = &record.Taken{}
		}
		if err == nil && n < len(shares) {
			s.Taken.Others = shares[n]
		}
		n++
		return s, err
	}
}

// Disturbed runs are repeated once at the end of their round, unless most are, and the least disturbed
// counts.
func TestDisturbedRunsAreRepeated(t *testing.T) {
	for _, test := range []struct {
		name      string
		shares    []float64
		positions []int // of the runs that count, by row and round
		replaced  int
		notes     int // of a busy machine
	}{
		{"none", nil, []int{0, 3, 1, 2}, 0, 0},
		{"below the limit", []float64{0.04}, []int{0, 3, 1, 2}, 0, 0},
		{"once", []float64{0.3}, []int{2, 4, 1, 3}, 1, 0},
		{"both rows", []float64{0.3, 0.2}, []int{0, 3, 1, 2}, 0, 1},
		{"both rows of both rounds", []float64{0.3, 0.2, 0.2, 0.3}, []int{0, 3, 1, 2}, 0, 1},
		{"in both rounds", []float64{0.3, 0, 0.2, 0.4}, []int{2, 4, 1, 5}, 2, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
			c.OneProcess, c.Repeats, c.Out = false, 2, filepath.Join(t.TempDir(), "out")
			again, notes := 0, 0
			r, err := bench.Run(t.Context(), c, bench.Options{Execute: disturbedRuns(test.shares...),
				Progress: func(p bench.Progress) {
					if p.Done && p.Again {
						again++
					}
					if p.Note != "" {
						notes++
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			replaced := 0
			for _, row := range r.Rows {
				slices.SortFunc(row.Runs, func(a, b record.Run) int { return a.Round - b.Round })
				for _, run := range row.Runs {
					got = append(got, run.Position)
				}
				replaced += len(row.Replaced)
			}
			if !slices.Equal(got, test.positions) || replaced != test.replaced || !r.Complete ||
				again != replaced || notes != test.notes {
				t.Errorf("runs at %v, %d replaced, %d shown so, %d notes, complete %v; want %v, %d, %d", got,
					replaced, again, notes, r.Complete, test.positions, test.replaced, test.notes)
			}
			checkPositions(t, r, 4+test.replaced)
			if got := tells(compare.Compare(r), "repeated"); got != (test.replaced > 0) {
				t.Errorf("a fact tells of repeats: %v", got)
			}
		})
	}
}

// noisy is pretend with step times that differ from run to run by up to a share. It sleeps for as long as it
// says to have run, for synctest.
func noisy(share float64) func(context.Context, bench.Row, launcher.Options) (*record.Summary, error) {
	n, noise := uint64(0), random.Derive(3)
	return func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
		s, err := pretend(ctx, c, o)
		if err != nil {
			return nil, err
		}
		n++
		factor := 1 + share*noise.Unit(n)
		path := filepath.Join(c.Out, "steps.jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		was := `"seconds":0.5,"phases":{"forward":0.25,"backward":0.25}`
		is := fmt.Sprintf(`"seconds":%g,"phases":{"forward":%g,"backward":%g}`, factor/2, factor/4, factor/4)
		s.Seconds *= factor
		time.Sleep(time.Duration(s.Seconds * float64(time.Second)))
		return s, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), was, is)), 0o644)
	}
}

// Rounds are added until intervals are narrow, and no longer.
func TestPrecision(t *testing.T) {
	for _, test := range []struct {
		name     string
		noise    float64
		from, to int // rounds
	}{
		{"quiet: few rounds make an interval narrow", 0.005, 4, 8},
		{"noisy", 0.10, 9, 3 + bench.MaxAdded},
	} {
		inBubble := func(t *testing.T) {
			c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
			c.Repeats, c.Precision, c.OneProcess, c.Seeds = 3, 0.02, false, []uint64{5, 6}
			c.Out = filepath.Join(t.TempDir(), "out")
			r, err := bench.Run(t.Context(), c, bench.Options{Execute: noisy(test.noise)})
			if err != nil {
				t.Fatal(err)
			}
			if r.Rounds < test.from || r.Rounds > test.to || !r.Complete {
				t.Errorf("%d rounds, complete %v; want %d to %d", r.Rounds, r.Complete, test.from, test.to)
			}
			seeds := map[uint64]bool{}
			for _, run := range r.Rows[0].Runs {
				seeds[run.Seed] = true
			}
			if want := r.Rounds - 1; len(seeds) != want { // two of three rounds that were asked for
				t.Errorf("%d seeds of %d rounds, want %d", len(seeds), r.Rounds, want)
			}
			comparison := compare.Compare(r)
			if wide := comparison.Wide(0.02); wide != nil {
				t.Errorf("intervals of rows %v are wide", wide)
			}
		}
		t.Run(test.name, func(t *testing.T) { synctest.Test(t, inBubble) })
	}
}

// Rounds are added where an interval is wide, in a benchmark that is interrupted as well.
func TestPrecisionOfOneGroup(t *testing.T) { synctest.Test(t, addToOneGroup) }

func addToOneGroup(t *testing.T) {
	c := matrix([]string{"lenet", "vgg11"}, []string{"single", "ddp"}, 1, 2)
	c.Repeats, c.Precision, c.OneProcess = 6, 0.02, false
	c.Out = filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithCancel(t.Context())
	restless, steady, n := noisy(0.10), noisy(0), 0
	execute := func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
		if n++; n == 6*4+3 { // in the second of the rounds added
			stop()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c.Model == "vgg11" {
			return restless(ctx, c, o)
		}
		return steady(ctx, c, o)
	}
	if _, err := bench.Run(ctx, c, bench.Options{Execute: execute}); err == nil {
		t.Fatal("it was not interrupted")
	}
	r, err := bench.Resume(t.Context(), c.Out, 0, nil, bench.Options{Execute: execute})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		isRestless := row.Setting.Model == "vgg11"
		if n := len(row.Runs); n < 6 || (n > 6) != isRestless || n != row.Rounds {
			t.Errorf("%s %s: %d runs, %d rounds", row.Setting.Model, row.Setting.Strategy, n, row.Rounds)
		}
	}
	if !r.Complete {
		t.Error("not complete")
	}
}

// rewritten changes the plan of a benchmark that has ended.
func rewritten(t *testing.T, from, to string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "there")
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	c.Repeats, c.Out = 1, folder
	if _, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, bench.PlanFile)
	plan, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(plan), from) {
		t.Fatalf("%v; the plan has no %s: %s", err, from, plan)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(plan), from, to)), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// The plan of a replayed benchmark is a stranger's: it chooses no folder that is written to and no interface
// that is listened on.
func TestReplayWritesWhereItIsTold(t *testing.T) {
	folder := rewritten(t, `"data-dir":"","size"`, `"data-dir":"/","size"`)
	here := filepath.Join(t.TempDir(), "here")
	_, err := bench.Replay(t.Context(), folder, here, nil, bench.Options{
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			if c.DataDir != "" || c.MasterAddr != "127.0.0.1" || !strings.HasPrefix(c.Out, here) {
				t.Errorf("data of %q, listening on %q, into %q", c.DataDir, c.MasterAddr, c.Out)
			}
			return pretend(ctx, c, o)
		}})
	if err != nil {
		t.Error(err)
	}
}

// A plan that lockstep bench does not write is not replayed.
func TestReplayRefusesOtherPlans(t *testing.T) {
	for want, change := range map[string][2]string{
		"resumes a run or counts":                   {`"resume":""`, `"resume":"/r"`},
		"or counts below 0: this is no plan":        {`"config":`, `"rounds":-5,"config":`},
		"1 repeats, 1000000 copies, precision 0, 0": {`"copies":1`, `"copies":1000000`},
	} {
		folder := rewritten(t, change[0], change[1])
		_, err := bench.Replay(t.Context(), folder, filepath.Join(t.TempDir(), "here"), nil, bench.Options{
			Execute: func(context.Context, bench.Row, launcher.Options) (*record.Summary, error) {
				t.Errorf("%s: something was run", want)
				return nil, errors.New("not to be run")
			}})
		var usage *setting.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %q", err, want)
		}
	}
}

// Results that take long to write are written less often than runs end, and when the benchmark ends.
func TestLargeResultsAreWrittenSeldom(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	c.OneProcess, c.Repeats, c.Out = false, 20, filepath.Join(t.TempDir(), "out")
	written := map[time.Time]bool{}
	runs := 0
	_, err := bench.Run(t.Context(), c, bench.Options{
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			if info, err := os.Stat(filepath.Join(c.Out, report.ResultsFile)); err != nil {
				t.Error(err)
			} else {
				written[info.ModTime()] = true
			}
			if row.Steps = 3; runs == 0 {
				row.Steps = 20_000
			}
			runs++
			return pretend(ctx, row, o)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if len(written) > 10 {
		t.Errorf("written %d times in 20 runs", len(written))
	}
	if saved, err := report.Read(c.Out); err != nil || !saved.Complete || len(saved.Rows[0].Runs) != 20 {
		t.Errorf("%v, want 20 runs at last", err)
	}
}
