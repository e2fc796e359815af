package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/cluster"

	"github.com/google/go-cmp/cmp"
)

func base() setting.Config {
	c := setting.Default()
	c.Steps = 3
	return c
}

func matrix(models, strategies []string, workers ...int) bench.Config {
	return bench.Config{Repeats: 1, Cores: 2, OneProcess: true, Parts: []bench.Part{{Base: base(),
		Models: models, Strategies: strategies, Workers: workers, Batches: []int{64}}}}
}

func withWires(c bench.Config, wires ...string) bench.Config {
	c.Parts[0].Wires = wires
	return c
}

func withCopies(c bench.Config, n int) bench.Config {
	c.Copies = n
	return c
}

// timed has rows that train for half a minute.
func timed(c bench.Config) bench.Config {
	c.Parts[0].Base.Steps, c.Parts[0].Base.For = 0, "30s"
	return c
}

// withDimensions adds dimensions to the part, that of math without any.

func withDimensions(c bench.Config, d ...bench.Dimension) bench.Config {
	if d == nil {
		d = []bench.Dimension{{Name: "math", Values: []string{"fast", "exact"}}}
	}
	c.Parts[0].Dimensions = d
	return c
}

func withThreads(c bench.Config, threads ...int) bench.Config {
	c.Parts[0].Threads = threads
	return c
}

func perWorker(c bench.Config, samples ...int) bench.Config {
	c.Parts[0].Batches, c.Parts[0].PerWorker = nil, samples
	return c
}

// Rows of weak scaling have a batch for each number of workers, and one of each worker.
func TestPerWorker(t *testing.T) {
	plan, err := bench.Expand(perWorker(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2, 4), 8, 16))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range plan.Rows {
		got = append(got, fmt.Sprint(r.Workers, "×", r.PerWorker, "=", r.Batch, "/", r.Shards))
	}
	want := strings.Fields("1×8=8/1 1×8=8/1 2×8=16/2 4×8=32/4 " +
		"1×16=16/1 1×16=16/1 2×16=32/2 4×16=64/4")
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func names(p bench.Plan) []string {
	var out []string
	for _, row := range p.Rows {
		out = append(out, fmt.Sprintf("%s /%d", row.Name(), row.Shards))
	}
	return out
}

// twice lists everything twice.
func twice() bench.Config {
	c := matrix([]string{"lenet", "lenet"}, []string{"single", "single:seed=1"}, 1, 1)
	return withThreads(withCopies(c, 1), 2, 2)
}

func TestExpand(t *testing.T) {
	all := []string{"single", "ddp", "none"}
	for _, test := range []struct {
		name   string
		config bench.Config
		rows   []string
	}{
		{"both models, equal shards, the same cores in one process",
			matrix([]string{"lenet", "vgg11"}, all, 1, 2), []string{
				"lenet single 1×1 /2", "lenet single 1×2 /2", "lenet ddp 2×1 /2", "lenet none 2×1 /2",
				"vgg11 single 1×1 /2", "vgg11 single 1×2 /2", "vgg11 ddp 2×1 /2", "vgg11 none 2×1 /2",
			}},
		{"more workers than cores", matrix([]string{"lenet"}, all, 1, 2, 4), []string{
			"lenet single 1×1 /4", "lenet single 1×2 /4", "lenet ddp 2×1 /4", "lenet ddp 4×1 /4",
			"lenet none 2×1 /4", "lenet none 4×1 /4"}},
		{"one worker", matrix([]string{"lenet"}, []string{"single"}, 1),
			[]string{"lenet single 1×2 /1"}},
		{"wires where gradients travel",
			withWires(matrix([]string{"lenet"}, all, 1, 2), "fp32", "int8", "zstd"), []string{
				"lenet single 1×1 /2", "lenet single 1×2 /2", "lenet ddp 2×1 /2",
				"lenet ddp 2×1 int8 /2", "lenet ddp 2×1 zstd /2", "lenet none 2×1 /2"}},
		{"every row under two names",
			withCopies(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2), 2),
			[]string{"lenet single 1×1 /2", "lenet single 1×1 /2", "lenet single 1×2 /2",
				"lenet single 1×2 /2", "lenet ddp 2×1 /2", "lenet ddp 2×1 /2"}},
		{"math", withDimensions(matrix([]string{"lenet"}, []string{"single", "ddp:bucket=64KiB"}, 1, 2)),
			[]string{
				"lenet single 1×1 math=fast /2", "lenet single 1×2 math=fast /2",
				"lenet single 1×1 math=exact /2", "lenet single 1×2 math=exact /2",
				"lenet ddp 2×1 bucket=64KiB math=fast /2", "lenet ddp 2×1 bucket=64KiB math=exact /2",
			}},
		{"checkpoints", withDimensions(matrix([]string{"lenet"}, []string{"ddp"}, 2),
			bench.Checkpoints([]string{"off", "on", "30s"})), []string{"lenet ddp 2×1 /2",
			"lenet ddp 2×1 checkpoint-every=10 /2", "lenet ddp 2×1 checkpoint-every=30s /2"}},
		{"threads", withThreads(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2), 1, 2),
			[]string{"lenet single 1×1 /2", "lenet single 1×2 /2", "lenet ddp 2×1 /2",
				"lenet ddp 2×2 /2"}},
		{"threads of the way", matrix([]string{"lenet"}, []string{"single:threads=2", "ddp"}, 1, 2),
			[]string{"lenet single 1×2 threads=2 /2", "lenet ddp 2×1 /2"}},
		{"threads of one of two ways", matrix([]string{"lenet"}, []string{"single", "single:threads=2"},
			1, 2), []string{"lenet single 1×1 /2", "lenet single 1×2 threads=2 /2"}},
		{"weak scaling", perWorker(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2, 4), 8),
			[]string{"lenet single 1×1 /1", "lenet single 1×2 /1", "lenet ddp 2×1 /2",
				"lenet ddp 4×1 /4"}},
		{"every list has a value twice", twice(), []string{"lenet single 1×2 seed=1 /1"}},
		{"distributed code with one worker", matrix([]string{"lenet"}, []string{"single", "ddp", "ps", "none",
			"auto"}, 1), []string{"lenet single 1×2 /1", "lenet ddp 1×2 /1", "lenet ps 1×2 /1"}},
		{"a sweep from one worker", matrix([]string{"lenet"}, []string{"all-reduce", "ddp"}, 1, 2), []string{
			"lenet single 1×1 /2", "lenet all-reduce 2×1 /2", "lenet ddp 2×1 /2"}},
		{"no single", matrix([]string{"lenet"}, []string{"ddp"}, 2), []string{"lenet ddp 2×1 /2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, err := bench.Expand(test.config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.rows, names(plan)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// Rows of parts that differ in a setting alone, which no label has, would be taken for one another.
func TestRowsOfPartsAreToldApart(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	other := c.Parts[0]
	other.Strategies, other.Workers, other.Base.Math = []string{"ddp"}, []int{2}, "exact"
	c.Parts = append(c.Parts, other)
	_, err := bench.Expand(c)
	if err == nil || !strings.Contains(err.Error(), "called lenet ddp 2×1, and differ") {
		t.Errorf("error %v, want one with the name of both", err)
	}
	c.Parts[1].Strategies = []string{"ddp:math=exact"}
	if _, err := bench.Expand(c); err != nil {
		t.Error(err)
	}
}

// Options of ddp are for its rows where there are some, and an error where there are none.
func TestOptionsOfDDP(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce", "ddp", "none"}, 1, 2)
	c.Parts[0].Base.OverlapForward = true
	plan, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range plan.Rows {
		if got, want := row.OverlapForward, row.Strategy == "ddp"; got != want {
			t.Errorf("%s: overlap-forward %v, want %v", row.Name(), got, want)
		}
	}
	c.Parts[0].Strategies = []string{"all-reduce"}
	var bad *setting.UsageError
	_, err = bench.Expand(c)
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "is for --strategy ddp") {
		t.Errorf("without ddp: error %v, want a usage error that names the strategy", err)
	}
}

func TestExpandRefuses(t *testing.T) {
	tooMany := matrix([]string{"lenet"}, []string{"single"}, 1)
	tooMany.Copies = 501
	manyRows := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	manyRows.Copies = 200
	noRepeat := matrix([]string{"lenet"}, []string{"single"}, 1)
	noRepeat.Repeats = 0
	for want, c := range map[string]bench.Config{
		"vgg11":              matrix([]string{"vgg12"}, []string{"single"}, 1),
		"all-reduce":         matrix([]string{"lenet"}, []string{"allreduce"}, 2),
		"workers [0]":        matrix([]string{"lenet"}, []string{"single"}, 0),
		"workers [10000]":    matrix([]string{"lenet"}, []string{"ddp"}, 10000),
		"repeats 0":          noRepeat,
		"copies 501":         tooMany,
		"the matrix has 600": manyRows,
		"threads [0]:":       withThreads(matrix([]string{"lenet"}, []string{"single"}, 1), 0),
		"unknown wire":       withWires(matrix([]string{"lenet"}, []string{"ddp"}, 2), "int9"),
		`strategies: unknown strategy "singel"; did you mean "single"?`: matrix([]string{"lenet"},
			[]string{"singel"}, 1),
		"the matrix is empty":    matrix([]string{"lenet"}, []string{"none"}, 1),
		"its workers never meet": timed(matrix([]string{"lenet"}, []string{"single", "none"}, 1, 2)),
		"no strategy":            matrix([]string{"lenet"}, nil, 2),
		"batch": func() bench.Config {
			c := matrix([]string{"lenet"}, []string{"ddp"}, 2)
			c.Parts[0].Batches = []int{1}
			return c
		}(),
	} {
		_, err := bench.Expand(c)
		var bad *setting.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %q", err, want)
		}
	}
}

// Every round visits every row once; odd rounds run backwards, so neighbours form ABBA.
func TestTrialsAlternate(t *testing.T) {
	p := bench.Plan{Rows: make([]bench.Row, 3), Repeats: 4}
	var got []int
	for i, trial := range p.Trials() {
		if trial.Round != i/3 {
			t.Errorf("trial %d is in round %d, want %d", i, trial.Round, i/3)
		}
		got = append(got, trial.Row)
	}
	if want := []int{0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// pretend stands in for chooser.Run: it writes the raw samples a run would and returns a summary.
func pretend(_ context.Context, c bench.Row, _ launcher.Options) (*record.Summary, error) {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(c.Out, "steps.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for step := range c.Steps {
		for rank := range c.Workers {
			samples := c.Batch
			if c.IsIsolated() || c.Averages() {
				samples /= c.Workers
			}
			loss := 2.5 - 0.1*float64(step)
			own, shards := fmt.Sprint(loss+float64(rank)-float64(c.Workers-1)/2), c.Shards/c.Workers
			switch {
			case step == 2 && rank == 1: // another worker has its shards
				own, shards = "null", 0
			case step == 2 && rank == 0 && c.Workers == 2:
				own, shards = fmt.Sprint(loss), c.Shards
			}
			fmt.Fprintf(f, `{"rank":%d,"step":%d,"epoch":%d,"loss":%g,"own_loss":%s,"samples":%d,`+
				`"shards":%d,"seconds":%g,"phases":{"forward":%g,"backward":%g}}`+"\n",
				rank, step, step/2, loss, own, samples, shards, 0.5, 0.25, 0.25)
		}
	}
	bytes := int64(c.Steps*(c.Workers-1)) * 2 * 4 * 53_762 // of gradients
	return &record.Summary{Strategy: c.Strategy, Algorithm: "direct", Link: "tcp", Threads: c.Threads,
		Shards: c.Shards, Generated: true, Classes: 10, Epochs: 1.5, Outcome: record.Outcome{Seconds: 2,
			Steps: c.Steps, Samples: int64(c.Steps * c.Batch), ParameterSHA256: "abc", ISA: "plain",
			BytesSent: bytes, BytesReceived: bytes}}, nil
}

// Rows that train for a time have as many steps as the machine makes: results hold some of each run. Others
// hold all.
func TestTimedRunsAreThinned(t *testing.T) {
	rows := func() bench.Config { return matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2) }
	for want, c := range map[[2]int]bench.Config{{0, 2100}: rows(), {3, 700}: timed(rows())} {
		c.OneProcess, c.Repeats, c.Out = false, 2, filepath.Join(t.TempDir(), "out")
		r, err := bench.Run(t.Context(), c, bench.Options{
			Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
				row.Steps = 2100
				return pretend(ctx, row, o)
			}})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			for _, run := range row.Runs {
				last := run.Ranks[len(run.Ranks)-1].Steps
				if got := [2]int{row.Every, len(last.Seconds)}; got != want {
					t.Errorf("%s: one step in %d, %d in all, want %v", row.Setting.Strategy, got[0],
						got[1], want)
				}
			}
		}
	}
}

func TestRun(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp", "none", "local-sgd"}, 1, 2)
	c.Repeats, c.Out = 2, filepath.Join(t.TempDir(), "out")
	var order []string
	last := bench.Progress{}
	r, err := bench.Run(t.Context(), c, bench.Options{
		Label:    record.Results{Version: "1", Host: record.Machine{Cores: 2}},
		Progress: func(p bench.Progress) { last = p },
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			order = append(order, fmt.Sprintf("%s%d", c.Strategy, c.Threads))
			if !o.Isolate {
				t.Error("the worker is not a process of its own")
			}
			return pretend(ctx, c, o)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("single1 single2 ddp1 none1 local-sgd1 local-sgd1 none1 ddp1 single2 single1")
	if !slices.Equal(order, want) {
		t.Errorf("runs in order %v, want %v", order, want)
	}
	if !last.Done || last.Run != 10 || last.Runs != 10 || last.Remaining != 0 {
		t.Errorf("last progress %+v, want run 10 of 10 done", last)
	}
	f, err := os.Open(filepath.Join(c.Out, report.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	saved, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if !saved.Complete || !r.Complete || len(saved.Rows) != 5 || saved.Version != "1" {
		t.Errorf("saved results: complete %v, %d rows", saved.Complete, len(saved.Rows))
	}
	if saved.Seal == "" || saved.IsChanged {
		t.Errorf("seal %q, changed %v", saved.Seal, saved.IsChanged)
	}
	checkOwnShares(t, saved.Rows[3])
	checkOwnShares(t, saved.Rows[4])
}

// Copies are one row under several names: each tells how many rows above the first of them is.
func TestRunOfCopies(t *testing.T) {
	c := withCopies(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2), 3)
	c.Out = filepath.Join(t.TempDir(), "out")
	r, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, row := range r.Rows {
		got = append(got, row.Copy)
	}
	if want := []int{0, 1, 2, 0, 1, 2, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("copies %v, want %v", got, want)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}

// checkOwnShares looks at one row in detail: the ranks' shares add up, and one epoch was completed.
func checkOwnShares(t *testing.T, row record.Row) {
	t.Helper()
	run := row.Runs[0]
	if len(row.Runs) != 2 || len(run.Ranks) != 2 || row.Setting.Algorithm != "direct" {
		t.Fatalf("row %+v, want two runs of two ranks", row.Setting)
	}
	s := run.Ranks[1].Steps
	if !slices.Equal(s.Samples, []int{64, 64, 64}) || !slices.Equal(s.Epoch, []int{0, 0, 1}) {
		t.Errorf("samples %v, epochs %v, want 64 each and 0 0 1", s.Samples, s.Epoch)
	}
	if own := s.OwnLoss; own[0] != 3 || !math.IsNaN(own[2]) || s.Loss[2] != 2.3 {
		t.Errorf("losses %v, own %v, want own losses 0.5 above and the last unknown", s.Loss, own)
	}
	if row.Setting.Classes != 10 {
		t.Errorf("%d classes, want the 10 of the summary", row.Setting.Classes)
	}
	if !slices.Equal(run.EpochSeconds, record.Numbers{1}) {
		t.Errorf("epochs took %v, want one of 1 s", run.EpochSeconds)
	}
	var c setting.Config
	err := json.Unmarshal(run.Config, &c)
	if err != nil || c.Optimizer.LR != base().Optimizer.LR || c.Shards != 2 {
		t.Errorf("configuration %s (%v), want every resolved value", run.Config, err)
	}
}

func TestFailedRunsAreRecordedWhileTheRestGoesOn(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	c.Repeats, c.Out = 2, filepath.Join(t.TempDir(), "out")
	lost := errors.New("rank 1 was killed")
	r, err := bench.Run(t.Context(), c, bench.Options{
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			if c.Strategy == "ddp" {
				return nil, lost
			}
			return pretend(ctx, c, o)
		}})
	var failed *bench.FailedError
	if !errors.As(err, &failed) || !errors.Is(err, lost) || failed.Failed != 2 || failed.Runs != 6 {
		t.Fatalf("error %v, want 2 of 6 runs failed", err)
	}
	if !r.Complete || len(r.Rows[0].Runs) != 2 || r.Rows[2].Runs[1].Error != lost.Error() {
		t.Errorf("rows %+v, want all runs with their errors", r.Rows)
	}
}

// A run in which a worker was lost is made once more: the machine may have been busy. One that fails again
// has failed once, and its first failure is kept.
func TestARunWithALostWorkerIsRepeated(t *testing.T) {
	for fails, want := range map[int]int{1: 0, 2: 1} {
		c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
		c.OneProcess, c.Out = false, filepath.Join(t.TempDir(), "out")
		tries := 0
		r, err := bench.Run(t.Context(), c, bench.Options{
			Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
				if row.Strategy == "ddp" {
					if tries++; tries <= fails {
						return nil, &cluster.WorkerError{Rank: 1, Silence: 5250 * time.Millisecond}
					}
				}
				return pretend(ctx, row, o)
			}})
		got := 0
		if failed := (*bench.FailedError)(nil); errors.As(err, &failed) {
			got = failed.Failed
		}
		if got != want || (err != nil) != (want > 0) {
			t.Errorf("%d lost: %v, want %d failed", fails, err, want)
		}
		ddp := r.Rows[1]
		if tries != 2 || len(ddp.Runs) != 1 || len(ddp.Replaced) != 1 || ddp.Replaced[0].Error == "" ||
			(ddp.Runs[0].Error != "") != (want > 0) || !r.Complete {
			t.Errorf("%d lost: %d tries, %+v", fails, tries, ddp)
		}
	}
}

func TestUsageErrorAndCancelEndTheBenchmark(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	for name, end := range map[string]func(context.CancelFunc) error{
		"usage":  func(context.CancelFunc) error { return &setting.UsageError{Lines: []string{"no"}} },
		"cancel": func(cancel context.CancelFunc) error { cancel(); return context.Canceled },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.Out = filepath.Join(t.TempDir(), "out")
			runs := 0
			r, err := bench.Run(ctx, c, bench.Options{
				Execute: func(context.Context, bench.Row, launcher.Options) (*record.Summary, error) {
					runs++
					return nil, end(cancel)
				}})
			if err == nil || runs != 1 || r.Complete {
				t.Errorf("error %v after %d runs, want an end after the first", err, runs)
			}
			if _, err := os.Stat(filepath.Join(c.Out, report.ResultsFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	c.Out = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.Out, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend})
	var bad *setting.UsageError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("error %v, want a usage error that names the file", err)
	}
}

func TestBrokenSamplesFailTheRun(t *testing.T) {
	for want, content := range map[string]string{
		"rank 1 has 0 steps": `{"rank":0,"step":0}`,
		"step 1, want 0":     `{"rank":0,"step":1}`,
		"rank 7":             `{"rank":7,"step":0}`,
		"unexpected":         `{"rank":0,`,
	} {
		c := matrix([]string{"lenet"}, []string{"ddp"}, 2)
		c.Out = filepath.Join(t.TempDir(), "out")
		_, err := bench.Run(t.Context(), c, bench.Options{
			Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
				s, err := pretend(ctx, c, o)
				if err == nil {
					err = os.WriteFile(filepath.Join(c.Out, "steps.jsonl"), []byte(content), 0o644)
				}
				return s, err
			}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("samples %s: error %v, want %q", content, err, want)
		}
	}
}

// Rows carry the form in which their gradients travelled, and whether that is another result.
func TestRowsOfWires(t *testing.T) {
	c := withWires(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2), "fp32", "deflate", "top-k",
		"auto")
	c.Out = filepath.Join(t.TempDir(), "out")
	r, err := bench.Run(t.Context(), c, bench.Options{
		Execute: func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
			s, err := pretend(ctx, c, o)
			if s.Wire = c.Wire; s.Wire == "auto" {
				s.Wire = "bf16"
			}
			return s, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Rows {
		s, folder := row.Setting, row.Runs[0].Directory
		got = append(got, fmt.Sprintf("%s %s %v", s.Strategy, s.Wire, s.IsLossy))
		if s.Wire == "top-k" && !strings.HasSuffix(folder, "ddp-w2t1-top-k") {
			t.Errorf("directory %s", folder)
		}
	}
	want := []string{"single  false", "single  false", "ddp  false", "ddp deflate false", "ddp top-k true",
		"ddp bf16 true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A row's own slow worker is in its name once.
func TestOwnSlowWorkerIsNamedOnce(t *testing.T) {
	plan, err := bench.Expand(matrix([]string{"lenet"}, []string{"ddp:slow-worker=1:3"}, 2))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lenet ddp 2×1 slow-worker=1:3 /2"}, names(plan)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Weights of one network are those of its rows alone, with what is said of them. Weights of nobody in
// particular are refused where rows train several networks.
func TestWeightsOfOneNetwork(t *testing.T) {
	c := matrix([]string{"lenet", "vgg11"}, []string{"single"}, 1)
	c.Parts[0].Base.Weights, c.Parts[0].Base.FreshHead = "vgg11=a=b.safetensors", true
	plan, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range plan.Rows {
		path := map[string]string{"lenet": "", "vgg11": "a=b.safetensors"}[r.Model]
		if r.Weights != path || r.FreshHead != (path != "") || r.Setting().Weights != path {
			t.Errorf("%s begins with %q, fresh head %v, want %q", r.Model, r.Weights, r.FreshHead, path)
		}
	}
	c.Parts[0].Base.Weights = "a.safetensors"
	want := "--weights: rows train lenet and vgg11; say whose they are, such as --weights vgg11=a.safetensors"
	if _, err := bench.Expand(c); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
