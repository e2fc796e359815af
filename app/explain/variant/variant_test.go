package variant_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/explain"
	"lockstep/app/explain/variant"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
)

// subject returns a row of two workers, whose steps of 10 ms have a part of one cost beside 8 ms of forward
// pass.
func subject(name string, c setting.Config, phase string, seconds float64) bench.Subject {
	s := record.Setting{Model: c.Model, Strategy: c.Strategy, Workers: c.Workers, Threads: c.Threads,
		Batch: c.Batch, Shards: c.Shards}
	run := record.Run{Ranks: make([]record.Rank, c.Workers)}
	for i := range run.Ranks {
		steps := &run.Ranks[i].Steps
		steps.Phases = map[string]record.Numbers{}
		for range 40 {
			steps.Seconds = append(steps.Seconds, 0.008+seconds)
			steps.Phases["forward"] = append(steps.Phases["forward"], 0.008)
			steps.Phases[phase] = append(steps.Phases[phase], seconds)
		}
	}
	return bench.Subject{Row: bench.Row{Config: c}, Name: name, Record: record.Row{Setting: s,
		Runs: []record.Run{run}}}
}

// A run that keeps checkpoints has two of them, and one that averages averages twice, or its difference would
// not come back. Where the time is too short for a round of such runs, they are as short as others.
func TestRunsHoldWhatTheyKeep(t *testing.T) {
	c := setting.Default()
	c.Model, c.Workers, c.Strategy, c.Threads, c.Shards, c.Data = "lenet", 2, "ddp", 1, 4, "synthetic"
	for name, keep := range map[string]func(*bench.Row){
		"checkpoints": func(r *bench.Row) { r.CheckpointEvery = "150" },
		"averages":    func(r *bench.Row) { r.Strategy, r.AverageEvery = "local-sgd", 150 },
	} {
		for budget, isHeld := range map[time.Duration]bool{10 * time.Second: true, 6 * time.Second: false} {
			a, b := subject("a", c, "data", 0), subject("b", c, "data", 0.004)
			keep(&b.Row)
			first, err := explain.Decompose(variant.SideOf(a), variant.SideOf(b))
			if err != nil {
				t.Fatal(err)
			}
			rows := variant.New(a, b, first, budget).Plan.Rows
			if isHeld && rows[1].Steps != 300 || !isHeld && rows[1].Steps > 100 || rows[0].Steps > 100 {
				t.Errorf("%s in %v: %d and %d steps; want 300 of the latter: %v", name, budget, rows[0].Steps,
					rows[1].Steps, isHeld)
			}
		}
	}
}

// A variant that would change nothing of its side is not run, as it would refute the term.
func TestAVariantChangesItsSide(t *testing.T) {
	for data, want := range map[string]int{"synthetic": 0, "glyphs": 1} {
		c := setting.Default()
		c.Model, c.Workers, c.Strategy, c.Threads, c.Shards, c.Data = "lenet", 2, "ddp", 1, 4, data
		a, b := subject("a", c, "data", 0), subject("b", c, "data", 0.004)
		b.Row.Batch *= 2 // so that the sides differ in something
		first, err := explain.Decompose(variant.SideOf(a), variant.SideOf(b))
		if err != nil {
			t.Fatal(err)
		}
		if large := first.Large(); len(large) != 1 || large[0].Cost() != explain.Data {
			t.Fatalf("large terms %+v, want data", large)
		}
		x := variant.New(a, b, first, time.Minute)
		if len(x.Pairs[0].Variants) != want || len(x.Plan.Rows) != 2+want {
			t.Errorf("%s: variants %+v, want %d", data, x.Pairs[0].Variants, want)
		}
	}
}

// Synthetic samples have classes, whatever those of a side have, and take the place of no table.
func TestVariantsOnSyntheticData(t *testing.T) {
	for name, c := range map[string]struct {
		model, text string
		want        int
	}{
		"texts.csv": {"bert-tiny", "text,label,w\na film,0.5,1\na,1.5,2\n", 1},
		"rows.csv":  {"mlp", "x,y,label,w\n1,2,3,1\n2,3,4,1\n", 0},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := setting.Default()
		s.Model, s.Workers, s.Strategy, s.Threads, s.Shards = c.model, 2, "ddp", 1, 4
		s.Data, s.Task, s.WeightColumn = path, setting.Regression, "w"
		a, b := subject("a", s, "data", 0), subject("b", s, "data", 0.004)
		b.Row.Batch *= 2
		first, err := explain.Decompose(variant.SideOf(a), variant.SideOf(b))
		if err != nil {
			t.Fatal(err)
		}
		rows := variant.New(a, b, first, time.Minute).Plan.Rows
		if len(rows) != 2+c.want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), 2+c.want)
		}
		for _, row := range rows[2:] {
			if row.Data != "synthetic" || row.IsRegression() || row.WeightColumn != "" {
				t.Errorf("%s: %s, --task %s, --weight-column %s", name, row.Data, row.Task, row.WeightColumn)
			}
		}
	}
}

// A run that chose its best weights is run again without choosing: its variants evaluate nothing.
func TestVariantsChooseNothing(t *testing.T) {
	c := setting.Default()
	c.Model, c.Workers, c.Strategy, c.Threads, c.Shards, c.Data = "lenet", 2, "ddp", 1, 4, "synthetic"
	c.Patience, c.RestoreBest, c.BestBy, c.Validation = 5, true, "macro-f1", setting.Held{Share: 0.15}
	x, err := variant.Ideal(subject("best", c, "sync_exposed", 0.004), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range x.Plan.Rows {
		if err := row.Validate(); err != nil || row.Validation != (setting.Held{}) {
			t.Errorf("%s: %v, validation %v", row.Name(), err, row.Validation)
		}
	}
}

// Rows of two versions of the program are cut up, and not run again by one of them.
func TestVersionsAreNotRunAgain(t *testing.T) {
	c := setting.Default()
	c.Threads, c.Shards, c.Steps = 1, 1, 4
	plan := bench.Plan{Rows: []bench.Row{{Config: c.Complete()}}, Repeats: 1, Copies: 1}
	folder := func(version string) string {
		out := filepath.Join(t.TempDir(), version)
		o := bench.Options{Label: record.Results{Version: version}, Execute: func(context.Context, bench.Row,
			launcher.Options) (*record.Summary, error) {
			return nil, errors.New("no machine")
		}}
		if _, err := bench.RunPlan(t.Context(), plan, out, 0, o); !errors.As(err, new(*bench.FailedError)) {
			t.Fatal(err)
		}
		return out + "#1"
	}
	was, is, again := folder("v1"), folder("v2"), folder("v2")
	for _, c := range []struct{ other, want string }{{was, "are of two versions of the program, v1 and v2"},
		{again, ""}} {
		_, unfit, err := variant.Subjects([]string{c.other, is}, nil)
		if err != nil || !strings.HasSuffix(unfit, c.want) || (unfit == "") != (c.want == "") {
			t.Errorf("%s: %q, %v; want %q", c.other, unfit, err, c.want)
		}
	}
}

// Settings in which two rows differ are given the other's value one by one: where it is one alone, what that
// makes is the other row, which is not run twice. Else large terms have a variant without their cost.
func TestVariantsOfTwoRows(t *testing.T) {
	under := func(text string) func(*bench.Row) {
		return func(r *bench.Row) {
			condition, err := bench.ParseCondition(text)
			if err != nil {
				t.Fatal(err)
			}
			if r.Condition = condition; condition.Slow != nil {
				r.SlowWorkers = condition.Slow
			}
			r.SlowLoader = condition.Loader
		}
	}
	wire := func(name string) func(*bench.Row) { return func(r *bench.Row) { r.Wire = name } }
	shards := func(r *bench.Row) { r.Shards = 3 }
	threads := func(r *bench.Row) { r.Threads = 2 }
	isa := func(r *bench.Row) { r.ISA = "plain" }
	equal := func(*bench.Row) {}
	for _, c := range []struct {
		a, b  func(*bench.Row)
		phase string
		want  []string
	}{
		{equal, wire("zstd"), "other", []string{"align codec: b with the wire of a, all"}},
		{equal, shards, "other", []string{"align imbalance: b with the shards of a, all"}},
		{isa, equal, "other", []string{"align efficiency: b with the isa of a, all"}},
		{under("rate=2gbit"), under("rate=200mbit"), "other",
			[]string{"align bandwidth: b with the rate of a, all"}},
		{under("delay=1ms+rate=2gbit"), under("rate=2gbit+slow-worker=1:10ms+delay=1ms"), "other",
			[]string{"align straggler: b with the slow-worker of a, all"}},
		{under("equal"), under("slow-loader=10ms"), "data",
			[]string{"align data: b with the slow-loader of a, all"}},
		{under("rate=1gbit"), under("rate=1gbit+delay=5ms+slow-loader=10ms"), "sync_exposed",
			[]string{"align data: b with the slow-loader of a", "align latency: b with the delay of a",
				"relieve latency: b with links of half the delay"}},
		{equal, threads, "sync_exposed", []string{"isolate work: one worker of a alone, with its share of " +
			"the batch", "isolate work: one worker of b alone, with its share of the batch",
			"silence latency: b without any exchange"}},
		{threads, equal, "forward", []string{"isolate efficiency: one worker of a alone, with its share of " +
			"the batch", "isolate efficiency: one worker of b alone, with its share of the batch"}},
		{equal, equal, "sync_exposed", nil},
	} {
		config := setting.Default()
		config.Model, config.Workers, config.Strategy, config.Threads, config.Shards = "lenet", 2, "ddp", 1, 4
		config.Data = "synthetic"
		sides := [2]bench.Subject{subject("a", config, "other", 0), subject("b", config, c.phase, 0.004)}
		for i, change := range []func(*bench.Row){c.a, c.b} {
			change(&sides[i].Row)
			sides[i].Record.Setting = sides[i].Row.Setting()
		}
		first, err := explain.Decompose(variant.SideOf(sides[0]), variant.SideOf(sides[1]))
		if err != nil {
			t.Fatal(err)
		}
		x := variant.New(sides[0], sides[1], first, time.Minute)
		var got []string
		rows := 2
		for _, v := range x.Pairs[0].Variants {
			text := v.Action + " " + v.Cost + ": " + v.Text
			if v.IsAll {
				text += ", all"
			} else {
				rows++
			}
			if v.IsAll != (v.Row == 0) {
				t.Errorf("%s: row %d of the plan", text, v.Row)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) || len(x.Plan.Rows) != rows {
			t.Errorf("%s: variants %q in %d rows, want %q in %d", c.phase, got, len(x.Plan.Rows), c.want,
				rows)
		}
	}
}

// A worker that shares no step with others has a whole batch, alone too.
func TestAnAsynchronousWorkerHasAWholeBatch(t *testing.T) {
	c := setting.Default()
	c.Model, c.Workers, c.Threads, c.Shards, c.Data = "lenet", 2, 1, 4, "synthetic"
	of := func(way string) bench.Subject {
		c := c
		c.Strategy = way
		return subject(way, c, "other", 0)
	}
	a, b := of("all-reduce"), of("ps-async")
	b.Record.Runs[0].Ranks[0].Steps.Phases["forward"] = slices.Repeat(record.Numbers{0.016}, 40)
	b.Record.Runs[0].Staleness = []int{40, 40}
	first, err := explain.Decompose(variant.SideOf(a), variant.SideOf(b))
	if err != nil {
		t.Fatal(err)
	}
	var batches []int
	x := variant.New(a, b, first, time.Minute)
	for _, v := range x.Pairs[0].Variants {
		if row := x.Plan.Rows[v.Row]; v.Action == "isolate" {
			batches = append(batches, row.Batch)
		}
	}
	if !slices.Equal(batches, []int{c.Batch / 2, c.Batch}) {
		t.Errorf("batches of workers alone %v, want half of %d and all", batches, c.Batch)
	}
}

// A benchmark that asks why runs its rows again beside variants of them, the variant of the largest term
// first; without time for a round of a pair, the pair is told and not tried.
func TestConfirm(t *testing.T) {
	c := setting.Default()
	c.Model, c.Threads, c.Shards, c.Data, c.Steps = "lenet", 1, 4, "synthetic", 40
	one, two := c, c
	one.Workers, one.Strategy = 1, "single"
	two.Workers, two.Strategy = 2, "ddp"
	p := bench.Plan{Repeats: 1, Copies: 1}
	r := &record.Results{Rounds: 1, Inquiry: &record.Inquiry{Questions: []record.Question{{Ask: "Why?",
		Quantity: "why", Of: record.Selector{"model": "lenet"}}}}}
	for _, s := range []bench.Subject{subject("one", one, "other", 0),
		subject("two", two, "sync_exposed", 0.02)} {
		p.Rows, r.Rows = append(p.Rows, s.Row), append(r.Rows, s.Record)
	}
	for i := range r.Rows {
		for j := range r.Rows[i].Runs[0].Ranks {
			s := &r.Rows[i].Runs[0].Ranks[j].Steps
			s.Loss, s.OwnLoss = s.Seconds, s.Seconds
			s.Epoch, s.Samples = make([]int, 40), make([]int, 40)
			r.Rows[i].Runs[0].Ranks[j].Rank = j
		}
	}
	var ran []string
	o := bench.Options{Execute: func(_ context.Context, row bench.Row, _ launcher.Options) (
		*record.Summary, error) {
		ran = append(ran, row.Name())
		return nil, errors.New("no machine")
	}}
	for left, want := range map[time.Duration]int{1: 0, 5500 * time.Millisecond: 3, 0: 4} {
		ran = nil
		got, err := variant.Confirm(t.Context(), p, r, filepath.Join(t.TempDir(), "causes"), left, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Pairs) != 1 || got.Pairs[0].Rows != [2]int{0, 1} || len(got.Rows) != want ||
			(got.Pairs[0].Again != nil) != (want > 0) || left == 0 && len(ran) != 5*want {
			t.Errorf("time %v: %d rows, pairs %+v, ran %d", left, len(got.Rows), got.Pairs, len(ran))
		}
		if v := got.Pairs[0].Variants; len(v) != max(want-2, 0) || got.Pairs[0].IsCut != (want < 4) ||
			want > 2 && v[0].Action != explain.Silence {
			t.Errorf("time %v: variants %+v, want no exchange, then one worker alone", left, v)
		}
		r.Causes = got
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
	}
	p.Rows[1].CheckpointEvery = "250" // two of which take 14 s
	got, err := variant.Confirm(t.Context(), p, r, t.TempDir(), 5500*time.Millisecond, o)
	if err != nil || len(got.Rows) != 0 || !got.Pairs[0].IsCut {
		t.Errorf("without time for checkpoints: %+v, %v", got, err)
	}
	r.Inquiry = nil
	if got, err := variant.Confirm(t.Context(), p, r, t.TempDir(), 0, o); got != nil || err != nil {
		t.Errorf("%+v, %v without a question", got, err)
	}
}
