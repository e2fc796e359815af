package command

import (
	"io"
	"slices"
	"strings"
	"testing"

	"lockstep/app/bench"
	"lockstep/app/job"
	"lockstep/cluster"
	"lockstep/recipe"
)

// Every recipe that is a benchmark has rows that could run, on a substitute where its data are not found.
func TestComparisonsExpand(t *testing.T) {
	for _, r := range recipe.Comparisons() {
		if r.Name != "r4-strategies" {
			continue // the original reports' have tests of their own
		}
		var said strings.Builder
		a := &app{stdout: io.Discard, stderr: &said, environment: cluster.Environment{
			cluster.EnvData: t.TempDir()}}
		all, err := readPlan(r.Name, []byte(r.Plan))
		if err != nil {
			t.Fatal(err)
		}
		config, _, err := a.benchConfig(all, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := bench.Expand(config)
		if err != nil {
			t.Fatal(err)
		}
		if config.Repeats != 3 || !slices.Equal(plan.Seeds, []uint64{1, 2, 3}) || len(all) != 2 {
			t.Errorf("%s: %d repeats, seeds %v, %d parts", r.Name, config.Repeats, plan.Seeds, len(all))
		}
		if !strings.Contains(said.String(), "this run is on synthetic instead") {
			t.Errorf("%s: it says %q", r.Name, said.String())
		}
		for _, row := range plan.Rows {
			if row.EvalEvery != 1 || row.Shards != 8 || row.Threads != 1 {
				t.Errorf("%s: evaluated every %d, %d shards, %d threads", row.Name(), row.EvalEvery,
					row.Shards, row.Threads)
			}
		}
	}
}

// Without repeats and seeds, rows have as many runs as can tell them apart.
func TestRepeatsByDefault(t *testing.T) {
	for text, want := range map[string]int{"models: lenet\n": 6, "repeats: 2\n": 2, "seeds: 1,2,3\n": 3} {
		all, err := readPlan("plan", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].config().Repeats; got != want {
			t.Errorf("%q: %d repeats, want %d", text, got, want)
		}
	}
}

// A part of texts beside one of images is resolved with its own model, as in r0 where sst2 is found.
func TestPartOfTexts(t *testing.T) {
	a := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{
		cluster.EnvData: t.TempDir()}}
	all, err := readPlan("texts", []byte("parts:\n  - {model: lenet, data: glyphs}\n"+
		"  - {model: bert-tiny, data: sst2, sequence: 64}\n"))
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := a.benchConfig(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Parts[1].Base; got.Model != "bert-tiny" || got.Data != "sst2" {
		t.Errorf("%s on %s", got.Model, got.Data)
	}
}

// A time that is none would be a benchmark without end.
func TestBudgetsAreTimes(t *testing.T) {
	for _, text := range []string{"0", "-1s", "9000h", "2562047h", "soon", ""} {
		for _, args := range [][]string{{"bench", "--steps", "1"}, {"bench", "--resume", t.TempDir()},
			{"recipe", "run", "r3"}} {
			status, _, stderr := execute(append(args, "--budget="+text)...)
			if status != job.ExitUsage || !strings.Contains(stderr, "is no time to run for; want ") {
				t.Errorf("%q --budget=%q: status %d, %q", args, text, status, stderr)
			}
		}
	}
}
