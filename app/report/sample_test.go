package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// sampleRow describes one row of a made-up benchmark.
type sampleRow struct {
	model, strategy  string
	workers, threads int
	step, exchange   float64 // seconds
	err              string
}

// sample returns made-up results: lenet and vgg11, all strategies, one failed run.
func sample() *record.Results {
	r := &record.Results{
		Version: "0.1.0", Revision: "5f484d4", Go: "go1.26.8",
		Command: []string{"lockstep", "bench", "--quick"},
		Started: time.Date(2026, 11, 21, 11, 40, 0, 0, time.UTC), Seconds: 74.2, Rounds: 6,
		Complete: true,
		Host: record.Machine{Name: "node-1", OS: "linux", Kernel: "6.1.0", Arch: "amd64",
			CPU: "Example Processor 9000", Cores: 2, MemoryBytes: 8 << 30,
			ISA: []string{"plain", "avx2", "avx512"}},
		Skipped: []record.Skip{{Model: "lenet", Strategy: "ddp", Workers: 1,
			Reason: "One worker has nobody to exchange with: the row would be single under " +
				"another name."}},
	}
	for i, s := range []sampleRow{
		{"lenet", "single", 1, 1, 0.0088, 0, ""},
		{"lenet", "single", 1, 2, 0.0051, 0, ""},
		{"lenet", "gather-scatter", 2, 1, 0.0046, 0.0031, ""},
		{"lenet", "all-reduce", 2, 1, 0.0046, 0.0019, ""},
		{"lenet", "ddp", 2, 1, 0.0046, 0.0008, ""},
		{"lenet", "none", 2, 1, 0.0046, 0, ""},
		{"vgg11", "single", 1, 1, 0.182, 0, ""},
		{"vgg11", "gather-scatter", 4, 1, 0.170, 0.062, ""},
		{"vgg11", "all-reduce", 4, 1, 0.170, 0.031, "rank 1 (pid 4711) was killed by signal 9 " +
			"at step 4 in backward"},
		{"vgg11", "ddp", 4, 1, 0.170, 0.012, ""},
	} {
		r.Rows = append(r.Rows, s.row(uint64(i)))
	}
	inTurn(r)
	return r
}

// inTurn gives runs the places and times of rounds that run the rows as listed, then in reverse.
func inTurn(r *record.Results) {
	at, position := r.Started, 0
	for round := range r.Rounds {
		for _, row := range compare.Order(0, round, make([]int, len(r.Rows))) {
			run := &r.Rows[row].Runs[round]
			run.Wall = run.Seconds
			run.Started, run.Position = at, position
			at, position = at.Add(time.Duration(run.Wall*float64(time.Second))), position+1
		}
	}
	r.Seconds = at.Sub(r.Started).Seconds()
}

func (s sampleRow) row(number uint64) record.Row {
	row := record.Row{Setting: record.Setting{Model: s.model, Data: "glyphs", Strategy: s.strategy,
		Algorithm: "direct", Link: "tcp", Workers: s.workers, Threads: s.threads, Batch: 64, Shards: 2,
		Steps: 60, LR: 0.05, Seed: 1, Generated: true, Classes: 10}}
	if s.model == "vgg11" {
		row.Setting.Batch, row.Setting.Shards, row.Setting.Steps = 32, 4, 8
	}
	for round := range 6 {
		run := s.run(row.Setting, rand.New(rand.NewPCG(number, uint64(round))))
		run.Round = round
		row.Runs = append(row.Runs, run)
	}
	return row
}

func (s sampleRow) run(set record.Setting, random *rand.Rand) record.Run {
	run := record.Run{Error: s.err, Outcome: record.Outcome{
		Steps: set.Steps, Samples: int64(set.Steps * set.Batch), ISA: "avx512",
		TrainAccuracy: new(0.609375), TestAccuracy: new(0.587), TestSamples: 1000,
		ParameterSHA256: fmt.Sprintf("%064x", 0x3fa94c<<40+len(s.model)),
		BytesSent:       int64(set.Steps * (s.workers - 1) * 53762 * 4),
		BytesReceived:   int64(set.Steps * (s.workers - 1) * 53762 * 4)},
		Config: []byte(`{"model":"` + s.model + `","momentum":0.9,"optimizer":"sgd","isa":""}`)}
	if s.model == "vgg11" {
		run.TestAccuracy, run.TestSamples = nil, 0
	}
	noise := 1 + 0.02*random.Float64()
	for rank := range s.workers {
		var st record.Steps
		st.Phases = map[string]record.Numbers{}
		for i := range set.Steps {
			f := noise * (1 + 0.06*random.ExpFloat64()*random.Float64())
			if i == 0 {
				f *= 4
			}
			step := (s.step + s.exchange) * f
			st.Epoch, st.Samples = append(st.Epoch, 0), append(st.Samples, set.Batch)
			loss := math.Log(10) * (0.35 + 0.65*math.Exp(-float64(i)/25))
			loss *= 1 + 0.02*math.Sin(float64(7*i))
			own := loss * (1 + 0.01*(float64(rank)-float64(s.workers-1)/2))
			if s.strategy == "none" {
				loss = own * 1.01 // each model falls more slowly by itself
				own = loss
			}
			st.Loss, st.OwnLoss = append(st.Loss, loss), append(st.OwnLoss, own)
			st.Seconds = append(st.Seconds, step)
			for name, share := range map[string]float64{"forward": 0.32, "backward": 0.58,
				"optimizer": 0.06, "data": 0.03, "other": 0.01} {
				st.Phases[name] = append(st.Phases[name], share*s.step*f)
			}
			st.Phases["sync_exposed"] = append(st.Phases["sync_exposed"], s.exchange*f)
		}
		run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: st})
		sum := 0.0
		for _, v := range st.Seconds {
			sum += v
		}
		run.Seconds = max(run.Seconds, sum)
	}
	if s.model == "lenet" { // one epoch: the sum of rank 0's steps
		run.EpochSeconds = record.Numbers{0}
		for _, v := range run.Ranks[0].Steps.Seconds {
			run.EpochSeconds[0] += v
		}
	}
	return run
}
