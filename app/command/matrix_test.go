package command

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/bench"
	"lockstep/app/job"
	"lockstep/cluster"
	"lockstep/recipe"
)

// expand returns the benchmark of a plan with its rows, on the hosts of a list, without data sets, and what
// is said about that. on, unless nil, changes the matrices first.
func expand(t *testing.T, name, text, hosts string, on func(*app, []matrix) []matrix) (config bench.Config,
	plan bench.Plan, told string) {
	t.Helper()
	var said strings.Builder
	a := &app{stdout: io.Discard, stderr: &said, environment: cluster.Environment{
		cluster.EnvData: t.TempDir(), cluster.EnvHosts: hosts}}
	all, err := readPlan(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if on != nil {
		all = on(a, all)
	}
	if config, err = a.benchConfig(all, nil); err == nil {
		plan, err = bench.Expand(config)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return config, plan, said.String()
}

// A recipe that is a benchmark has rows that could run, on a substitute where its data are not found.
func TestComparisonsExpand(t *testing.T) {
	r, _ := recipe.ComparisonNamed("r4-strategies") // the original reports' have tests of their own
	config, plan, said := expand(t, r.Name, r.Plan, "", nil)
	if config.Repeats != 3 || !slices.Equal(plan.Seeds, []uint64{1, 2, 3}) || len(config.Parts) != 2 {
		t.Errorf("%d repeats, seeds %v, %d parts", config.Repeats, plan.Seeds, len(config.Parts))
	}
	if !strings.Contains(said, "this run is on synthetic instead") {
		t.Errorf("it says %q", said)
	}
	for _, row := range plan.Rows {
		if row.EvalEvery != 1 || row.Shards != 8 || row.Threads != 1 {
			t.Errorf("%s: evaluated every %d, %d shards, %d threads", row.Name(), row.EvalEvery,
				row.Shards, row.Threads)
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

// The example of the documentation is a plan, and so is each recipe with an original: its reference and its
// questions have names that rows have.
func TestInquiries(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "read-a-report.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	plans := map[string]string{"the example": example}
	for _, r := range recipe.Comparisons() {
		if r.Name != "r4-strategies" {
			plans[r.Name] = r.Plan
		}
	}
	for name, text := range plans {
		all, err := readPlan(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		asked := all[0].config().Inquiry
		if asked == nil || len(asked.Questions) < 2 || len(asked.Reference.Rows) < 2 {
			t.Errorf("%s: %+v", name, asked)
		}
	}
}

// r1 compares workers on a global batch of one size at one rate of SGD. All warm up and see as many samples.
func TestOneBatchHasOneLearningRate(t *testing.T) {
	r1, _ := recipe.ComparisonNamed("r1")
	_, plan, _ := expand(t, "r1", r1.Plan, "", nil)
	for _, r := range plan.Rows {
		steps := r.Epochs * r.StepsPerEpoch(r.LimitTrain)
		rates, err := r.Schedule.Build(r.Optimizer.LR, steps, r.StepsPerEpoch(r.LimitTrain))
		if err != nil {
			t.Fatal(err)
		}
		first, most := rates.Rate(0), rates.Rate(steps/4)
		isAsPlanned := r.Optimizer.Name == "sgd" && r.Optimizer.LR == plan.Rows[0].Optimizer.LR &&
			r.Batch == 128 && steps == 40
		if !isAsPlanned || first > most/4 {
			t.Errorf("%s: rate %v, %d steps, from %v to %v", r.Name(), r.Optimizer.LR, steps, first, most)
		}
	}
}

// What a question or a reference names and nothing has is refused, with what there is.
func TestInquiriesAreRefused(t *testing.T) {
	const table = "reference: {title: a, columns: [step s], rows: [{name: b, figures: {step: 1}}]}\n"
	const ask = "questions: [{ask: a, quantity: step"
	for text, want := range map[string]string{
		"questions: [{ask: a, quantity: stp, of: {workers: 1}}]":   "as quantity, and by, one of step, ",
		ask + ", of: {worker: 1}}]":                                `"worker" is no setting of a row`,
		ask + "}]":                                                 "want ask, of",
		ask + ", off: {workers: 1}}]":                              `questions: [1:38] unknown field "off"`,
		ask + ", of: {workers: 1}, above: fast}]":                  "plan:1:1: questions: [1:",
		table + ask + ", of: {workers: 1}, reference: [c, step]}]": "want a row, one of",
		strings.Replace(table, "step: 1", "epoch: 1", 1):           `"epoch" is none of its columns`,
		"reference: 3":                                             "plan:1:1: reference: ",
		"parts: [{model: lenet, questions: [{ask: a}]}]":           "questions is the same for all parts",
		"parts: {model: lenet}":                                    "parts: want a list",
	} {
		if _, err := readPlan("plan", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// The rows of r3 on several hosts take all that there are, up to what it wants, whatever slots those have. As
// processes of one machine they are as many as it wants. Each computes as many shards as the others.
func TestAsManyHostsAsThereAre(t *testing.T) {
	r3, _ := recipe.ComparisonNamed("r3")
	const three = "a=10.0.0.1=2,b=10.0.0.2=2,c=10.0.0.3=2"
	for hosts, want := range map[string]int{"": 4, three: 3,
		three + ",d=10.0.0.4=2,e=10.0.0.5=2,f=10.0.0.6=2": 4} {
		_, plan, _ := expand(t, "r3", r3.Plan, hosts, func(a *app, all []matrix) []matrix {
			if hosts != "" {
				all, _ = a.onHosts(t.Context(), r3, all)
				return all
			}
			for i := range all {
				all[i].onOneMachine(r3.Hosts)
			}
			return all
		})
		var workers []int
		for _, r := range plan.Rows {
			workers = append(workers, r.Workers)
			if r.Shards != want {
				t.Errorf("hosts %q: %d shards in %s, want %d", hosts, r.Shards, r.Name(), want)
			}
		}
		if !slices.Equal(workers, []int{1, want, want, want}) {
			t.Errorf("hosts %q: rows of %v workers, want one, then %d", hosts, workers, want)
		}
	}
}

// Each recipe runs on three hosts with more slots than some of its rows have shards.
func TestRecipesOnHostsWithSlots(t *testing.T) {
	for _, r := range recipe.Comparisons() {
		expand(t, r.Name, r.Plan, "a=10.0.0.1=4,b=10.0.0.2=4,c=10.0.0.3=4",
			func(a *app, all []matrix) []matrix {
				all, _ = a.onHosts(t.Context(), r, all)
				return all
			})
	}
}

// A part of texts beside one of images is resolved with its own model, as in r0 where sst2 is found.
func TestPartOfTexts(t *testing.T) {
	config, _, _ := expand(t, "texts", "parts:\n  - {model: lenet, data: glyphs}\n"+
		"  - {model: bert-tiny, data: sst2, sequence: 64}\n", "", nil)
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
