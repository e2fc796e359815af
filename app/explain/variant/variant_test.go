package variant_test

import (
	"context"
	"errors"
	"path/filepath"
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
	r.Inquiry = nil
	if got, err := variant.Confirm(t.Context(), p, r, t.TempDir(), 0, o); got != nil || err != nil {
		t.Errorf("%+v, %v without a question", got, err)
	}
}
