package bench_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"

	"github.com/google/go-cmp/cmp"
)

func conditions(t *testing.T, texts ...string) []bench.Condition {
	t.Helper()
	var out []bench.Condition
	for _, text := range texts {
		c, err := bench.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func TestConditionsSayWhatTheyAre(t *testing.T) {
	for text, want := range map[string]string{
		"equal":                 "equal workers",
		"slow-worker=1:3":       "worker 1 made 3 times slower by a duty cycle",
		"slow-worker=1:20ms":    "worker 1 made to wait 20ms in every step",
		"slow-loader=1.3":       "batches take 1.3 times as long to prepare",
		"slow-loader=20ms":      "batches come 20ms later",
		"rate=100mbit":          "links of 100 Mbit/s in the lab",
		"rate=90mbit+delay=1ms": "links of 90 Mbit/s, 1ms delay in the lab",
		"rate=10mbit+slow-worker=0:2": "worker 0 made 2 times slower by a duty cycle; links of " +
			"10 Mbit/s in the lab",
	} {
		c, err := bench.ParseCondition(text)
		if err != nil || c.String() != want || c.IsApart() != strings.Contains(text, "rate=") {
			t.Errorf("%s: %q, %v; want %q", text, c, err, want)
		}
	}
	for text, want := range map[string]string{
		"fast":             "want equal, slow-worker=RANK:FACTOR, slow-loader=FACTOR, or a link",
		"rate=fast":        "is no rate such as",
		"delay=-1s":        "delay of -1s",
		"loss=100%":        "is no loss",
		"slow-worker=1":    "RANK:FACTOR",
		"slow-loader=-1s":  "a time of -1s is out of range",
		"equal+rate=1mbit": "want equal",
	} {
		_, err := bench.ParseCondition(text)
		var bad *setting.UsageError
		if !errors.As(err, &bad) || len(bad.Lines) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one line with %q", text, err, want)
		}
	}
}

func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"single,ddp":                            {"single", "ddp"},
		"equal, slow-worker=1:3,2:2,rate=1gbit": {"equal", "slow-worker=1:3,2:2", "rate=1gbit"},
		"ddp:lookahead=5,0.5+bucket=4MiB,ddp":   {"ddp:lookahead=5,0.5+bucket=4MiB", "ddp"},
		"single,2":                              {"single", "2"},
		"":                                      {""},
	} {
		if got := bench.SplitList(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A strategy's own settings are those of its row alone; a condition repeats the rows.
func TestRowsWithSettingsAndConditions(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp:bucket=64KiB+overlap-forward", "ddp",
		"all-reduce:algorithm=ring"}, 1, 2)
	c.OneProcess = false
	c.Parts[0].Conditions = conditions(t, "equal", "slow-worker=1:3", "rate=10mbit")
	plan, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range plan.Rows {
		got = append(got, row.Name())
	}
	var want []string
	for _, condition := range []string{"equal", "slow-worker=1:3", "rate=10mbit"} {
		for _, row := range []string{"single 1×1", "ddp 2×1 bucket=64KiB overlap-forward", "ddp 2×1",
			"all-reduce 2×1 algorithm=ring"} {
			want = append(want, "lenet "+row+" "+condition)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r := plan.Rows[1]; r.Bucket != 64<<10 || !r.OverlapForward || plan.Rows[2].OverlapForward {
		t.Errorf("bucket %d, overlap %v; the row beside it %v", r.Bucket, r.OverlapForward,
			plan.Rows[2].OverlapForward)
	}
	if r := plan.Rows[5]; r.SlowWorkers.String() != "1:3" || plan.Rows[4].SlowWorkers.String() != "" {
		t.Errorf("slow workers %q, of single %q", r.SlowWorkers, plan.Rows[4].SlowWorkers)
	}
}

// Servers change neither threads nor link of a row in a matrix.
func TestRowsOfAMatrixHaveEqualLinks(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"ddp", "ps:servers=2", "ps:link=local"}, 2)
	c.Parts[0].Base.Link, c.Parts[0].Base.Threads = "tcp", 3
	plan, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"tcp", "tcp", "local"} {
		if r := plan.Rows[i]; r.Link != want || r.Threads != 3 {
			t.Errorf("%s: link %s, %d threads, want %s and 3", r.Name(), r.Link, r.Threads, want)
		}
	}
}

func TestWrongRowsAreRefused(t *testing.T) {
	one := func(strategy string, condition ...string) bench.Config {
		c := matrix([]string{"lenet"}, []string{strategy}, 2)
		c.Parts[0].Conditions = conditions(t, condition...)
		return c
	}
	for want, c := range map[string]bench.Config{
		`strategy ddp:bukcet=1: unknown key "bukcet"; did you mean "bucket"?`: one("ddp:bukcet=1"),
		`strategy ddp:bucket=x: `:                one("ddp:bucket=x"),
		"no row has a worker of rank 2":          one("ddp", "slow-worker=2:3"),
		"slow workers of its own, and condition": one("ddp:slow-worker=1:2", "equal", "slow-worker=1:3"),
		"has a slow loader of its own":           one("ddp:slow-loader=2", "equal", "slow-loader=1s"),
		"overlap-forward: is for --strategy ddp": one("all-reduce:overlap-forward"),
	} {
		_, err := bench.Expand(c)
		var bad *setting.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %q", err, want)
		}
	}
}

// Rounds take the seeds in turn, and what a run needs for its accuracy is kept.
func TestSeedsOfRounds(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	c.OneProcess, c.Repeats, c.Seeds = false, 4, []uint64{7, 8}
	c.Parts[0].Conditions = conditions(t, "slow-worker=1:3")
	c.Out = filepath.Join(t.TempDir(), "out")
	r, err := bench.Run(t.Context(), c, bench.Options{
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			s, err := pretend(ctx, row, o)
			s.TrainSeconds = 1.5
			s.Evaluations = []record.Evaluation{{Steps: 3, Accuracy: record.Number(row.Seed)}}
			s.BusiestBytes, s.ServerBytes = 10, 9
			return s, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range r.Rows[1].Runs {
		seed := uint64(7 + i%2)
		if run.Seed != seed || run.Evaluations[0].Accuracy != record.Number(seed) ||
			run.TrainSeconds != 1.5 ||
			run.BusiestBytes != 10 || run.ServerBytes != 9 {
			t.Errorf("run %d: %+v, want seed %d", i, run, seed)
		}
	}
	if s := r.Rows[1].Setting; s.Condition != "worker 1 made 3 times slower by a duty cycle" {
		t.Errorf("condition %q", s.Condition)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}
