package variant_test

import (
	"testing"
	"time"

	"lockstep/app/bench"
	"lockstep/app/explain"
	"lockstep/app/explain/variant"
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
		if len(x.Variants) != want || len(x.Plan.Rows) != 2+want {
			t.Errorf("%s: variants %+v, want %d", data, x.Variants, want)
		}
	}
}
