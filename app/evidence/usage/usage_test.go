package usage_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/usage"
	"lockstep/app/record"
)

// results returns results of a row for each batch: single with one worker, or all-reduce with several.
func results(workers int, batches ...int) *record.Results {
	r := &record.Results{Rounds: 2, Complete: true, Host: record.Machine{Cores: 8}}
	for _, batch := range batches {
		row := record.Row{Setting: record.Setting{Model: "lenet", Data: "glyphs", Strategy: "single",
			Workers: workers, Threads: 1, Batch: batch, Shards: workers, Epochs: 1, LR: 0.01, Seed: 1}}
		if workers > 1 {
			row.Setting.Strategy = "all-reduce"
		}
		for round := range r.Rounds {
			run := record.Run{Round: round, Outcome: record.Outcome{Steps: 16, Samples: int64(16 * batch)}}
			for rank := range workers {
				run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: steps(batch)})
			}
			row.Runs = append(row.Runs, run)
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// steps returns sixteen steps of a tenth of a second.
func steps(batch int) record.Steps {
	column := func(v float64) (all record.Numbers) {
		for range 16 {
			all = append(all, v)
		}
		return all
	}
	s := record.Steps{Epoch: make([]int, 16), Loss: column(2), OwnLoss: column(2), Seconds: column(0.1),
		Usage: column(0.1), CPU: column(0.1), RSS: column(1 << 20), Sent: column(1e6), Received: column(1e6),
		Phases: map[string]record.Numbers{"forward": column(0.03), "backward": column(0.06),
			"sync_exposed": column(0.01)}}
	for range 16 {
		s.Samples = append(s.Samples, batch)
	}
	return s
}

// line returns the only row of results.
func line(r *record.Results) *compare.Line { return compare.Compare(r).Groups[0].Lines[0] }

// Of a row that holds one of nine steps, each stands for nine.
func TestStepsStandForOthers(t *testing.T) {
	r := results(2, 64)
	all := usage.Workers(line(r))[0]
	r.Rows[0].Every = 9
	some := usage.Workers(line(r))[0]
	if some.Computing != 9*all.Computing || some.Exchange != 9*all.Exchange || some.Step != all.Step ||
		len(some.Stretches) != len(all.Stretches) || some.Stretches[0].Usage != 9*all.Stretches[0].Usage {
		t.Errorf("%+v of one step in nine, %+v of all", some, all)
	}
}

// A drop has as its reason what took a tenth of it longer than usual; one without is untold.
func TestDrops(t *testing.T) {
	r := results(1, 64)
	s := &r.Rows[0].Runs[0].Ranks[0].Steps
	s.Checkpoint, s.Paused = make(record.Numbers, 16), make(record.Numbers, 16)
	s.CPU[2], s.Checkpoint[2] = 0.02, 0.08
	s.CPU[4], s.Paused[4] = 0.05, 0.06
	s.CPU[5], s.Phases["sync_exposed"][5] = 0.05, 0.06
	s.CPU[6] = 0.01
	s.CPU[7] = 0.08 // four fifths of the usual are no drop
	got := usage.Workers(line(r))[0].Drops()
	want := usage.Drops{Count: 4, Of: 16}
	for _, why := range []usage.Wait{usage.Checkpoint, usage.Collector, usage.Exchange, usage.Untold} {
		want.Why[why] = 1
	}
	if got != want {
		t.Errorf("drops %+v, want %+v", got, want)
	}
}

// What a worker took is that of the first run, and of that worker.
func TestWorkers(t *testing.T) {
	r := results(2, 64)
	second := &r.Rows[0].Runs[0].Ranks[1]
	second.BytesSent, second.BytesVectors = 100, 250
	for i := range second.Steps.Seconds {
		second.Steps.Seconds[i], second.Steps.Phases["forward"][i] = 0.2, 0.1
	}
	all := usage.Workers(line(r))
	if len(all) != 2 {
		t.Fatalf("%d workers, want 2", len(all))
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	w := all[1]
	if w.Step != 0.2 || !near(w.Computing, 2.56) || !near(w.Exchange, 0.16) || w.Compression != 2.5 {
		t.Errorf("rank 1: step %v, computing %v, exchange %v, compression %v, want 0.2, 2.56, 0.16, 2.5",
			w.Step, w.Computing, w.Exchange, w.Compression)
	}
	if w := all[0]; w.Step != 0.1 || !math.IsNaN(w.Compression) {
		t.Errorf("rank 0: step %v, compression %v, want 0.1 and none", w.Step, w.Compression)
	}
}

// Rows that differ in another setting too are no sweep over batches, and one batch is none.
func TestBatchesDifferInNothingElse(t *testing.T) {
	r := results(1, 256, 64)
	other := results(1, 128).Rows[0]
	other.Setting.LR = 0.1
	r.Rows = append(r.Rows, other, results(2, 32).Rows[0])
	var got []int
	for _, l := range usage.Batches(compare.Compare(r)) {
		got = append(got, l.Setting.Batch)
	}
	if fmt.Sprint(got) != "[64 256]" {
		t.Errorf("batches %v, want 64 and 256", got)
	}
	if got := usage.Batches(compare.Compare(results(1, 64))); got != nil {
		t.Errorf("a single batch gives %v", got)
	}
}

// Two workers compute for nine tenths of each of sixteen steps.
func ExampleWorkers() {
	for _, w := range usage.Workers(line(results(2, 64))) {
		fmt.Printf("rank %d: %.2f s of computing\n", w.Rank, w.Computing)
	}
	// Output:
	// rank 0: 1.44 s of computing
	// rank 1: 1.44 s of computing
}
