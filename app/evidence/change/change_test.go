package change_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/app/evidence/change"
	"lockstep/app/record"
)

// bench returns results with a row for each step time, in seconds, by number of workers from 1. Runs vary by
// a relative deviation.
func bench(rounds int, noise float64, r *rand.Rand, steps ...float64) *record.Results {
	out := &record.Results{Rounds: rounds, Complete: true, Host: record.Machine{CPU: "EPYC", Cores: 8}}
	for i, step := range steps {
		row := record.Row{Setting: record.Setting{Model: "lenet", Data: "glyphs", Strategy: "ddp",
			Algorithm: "direct", Workers: 1 + i, Threads: 1, Batch: 64, Shards: 8, Steps: 4, Seed: 1}}
		for round := range rounds {
			run := record.Run{Round: round, Outcome: record.Outcome{Steps: 4, Samples: 256}}
			v := step * math.Exp(noise*r.NormFloat64())
			for rank := range 1 + i {
				equal := func(v float64) record.Numbers { return slices.Repeat(record.Numbers{v}, 4) }
				run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: record.Steps{
					Epoch: make([]int, 4), Samples: []int{64, 64, 64, 64}, Loss: equal(1),
					OwnLoss: equal(1), Seconds: equal(v), Phases: map[string]record.Numbers{
						"forward": equal(v / 4), "sync_exposed": equal(v * 3 / 4)}}})
			}
			row.Runs = append(row.Runs, run)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func between(t *testing.T, then, now *record.Results) *change.Change {
	t.Helper()
	c, err := change.Between(then, now, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// slower returns the workers of the rows that are slower.
func slower(c *change.Change) (workers []int) {
	for _, r := range c.Slower() {
		workers = append(workers, r.Now.Setting.Workers)
	}
	return workers
}

func TestWhatIsToldApart(t *testing.T) {
	steps := []float64{0.010, 0.020, 0.030}
	for name, c := range map[string]struct {
		rounds int
		factor []float64
		want   []int
	}{
		"one row":                         {6, []float64{1, 1.15, 1}, []int{2}},
		"one row, by less than 5 %":       {6, []float64{1, 1.04, 1}, nil},
		"one row that only others outran": {6, []float64{0.8, 1, 0.8}, nil},
		"all, as an hour can":             {6, []float64{1.1, 1.1, 1.1}, nil},
		"all, as no hour can":             {6, []float64{1.4, 1.4, 1.4}, []int{1, 2, 3}},
		"two rounds":                      {2, []float64{1, 2, 1}, nil},
		"nothing":                         {6, []float64{1, 1, 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			now := slices.Clone(steps)
			for i, f := range c.factor {
				now[i] *= f
			}
			r := rand.New(rand.NewPCG(1, 2))
			found := between(t, bench(c.rounds, 0.005, r, steps...), bench(c.rounds, 0.005, r, now...))
			if got := slower(found); !slices.Equal(got, c.want) {
				for _, row := range found.Rows {
					t.Logf("%s: %+v, beside %+v", row.Name, row.Step.Interval, row.Beside.Interval)
				}
				t.Errorf("slower: rows of %v workers, want %v", got, c.want)
			}
			for _, row := range found.Slower() {
				largest := row.Terms[0] // three quarters of a step are exchange
				if w := row.Now.Setting.Workers; w > 1 && largest.Name == "work" || largest.MS <= 0 {
					t.Errorf("%d workers: the largest term is %s, %v ms", w, largest.Name, largest.MS)
				}
			}
			if found.LeastRounds != c.rounds {
				t.Errorf("least rounds %d, want %d", found.LeastRounds, c.rounds)
			}
		})
	}
}

// Equal rows, measured in two hours that differ by 5 %, are seldom called slower, whatever the rounds.
func TestEqualRowsAreNotSlower(t *testing.T) {
	const benchmarks = 200
	r := rand.New(rand.NewPCG(3, 4))
	for _, rounds := range []int{3, 6} {
		falsely := 0
		for range benchmarks {
			hour := math.Exp(0.05 * r.NormFloat64())
			found := between(t, bench(rounds, 0.03, r, 0.01, 0.02, 0.03), bench(rounds, 0.03, r, hour*0.01,
				hour*0.02, hour*0.03))
			falsely += min(1, len(found.Slower()))
		}
		if falsely > benchmarks/100 {
			t.Errorf("%d rounds: %d of %d benchmarks of equal rows name a slower one", rounds, falsely,
				benchmarks)
		}
	}
}

// Rows are matched by what they are, copies in their order.
func TestRowsAreMatched(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	then, now := bench(6, 0.01, r, 0.01, 0.02, 0.03), bench(6, 0.01, r, 0.01, 0.02, 0.03)
	then.Rows[0].Setting.Batch = 32        // other work
	now.Rows[1].Setting.Algorithm = "ring" // chosen by auto
	then.Rows[2].Runs[0].Config = []byte(`{"math":"fast"}`)
	now.Rows[2].Runs[0].Config = []byte(`{"math":"exact"}`)
	now.Rows = append(now.Rows, now.Rows[1])
	now.Rows[3].Copy = 2
	found := between(t, then, now)
	if len(found.Rows) != 1 || found.Rows[0].Now.Setting.Workers != 2 {
		t.Errorf("rows in common: %v", found.Rows)
	}
	if len(found.Other) != 1 || len(found.New) != 2 || len(found.Gone) != 1 {
		t.Errorf("other %q, new %q, gone %q", found.Other, found.New, found.Gone)
	}
	if !change.Fits(then, now.Rows[1].Setting) || change.Fits(then, now.Rows[0].Setting) {
		t.Error("Fits knows no row from another")
	}
}

func TestAnotherMachineIsRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	then, now := bench(6, 0.01, r, 0.01), bench(6, 0.01, r, 0.01)
	now.Host.Cores = 4
	_, err := change.Between(then, now, 0.05)
	var other *change.MachineError
	if !errors.As(err, &other) || other.What != "cores" {
		t.Errorf("error %v, want one about cores", err)
	}
}

// The row of two workers takes a third longer than in the earlier benchmark.
func ExampleBetween() {
	r := rand.New(rand.NewPCG(1, 2))
	then := bench(6, 0.002, r, 0.010, 0.006)
	now := bench(6, 0.002, r, 0.010, 0.008)
	c, err := change.Between(then, now, 0.05)
	if err != nil {
		fmt.Println(err)
	}
	for _, row := range c.Rows {
		fmt.Printf("%d workers: %.2f times as long, slower: %v\n", row.Now.Setting.Workers, row.Step.Median,
			row.IsSlower)
	}
	// Output:
	// 1 workers: 1.00 times as long, slower: false
	// 2 workers: 1.33 times as long, slower: true
}
