package launcher_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/data"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"

	"go.uber.org/goleak"
)

// A worker process of the tests begins when the file that this variable names is there.
const beginWith = "LOCKSTEP_TEST_BEGIN"

// TestMain lets the test binary act as a worker process.
func TestMain(m *testing.M) {
	environment := cluster.ProcessEnvironment()
	if environment[cluster.EnvRank] != "" {
		if begin := environment[beginWith]; begin != "" {
			waitFor(begin)
		}
		err := worker.Work(context.Background(), environment, worker.Program{Log: os.Stderr, Abandon: os.Exit,
			Catalog: ownCatalog()})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(job.ExitCode(err))
	}
	goleak.VerifyTestMain(m)
}

// waitFor returns when a file is there, or after some seconds.
func waitFor(name string) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// short is a run of a few steps in two epochs with a smaller last batch, in 4 uneven shards.
func short(t *testing.T) setting.Config {
	c := setting.Default()
	c.LimitTrain, c.LimitTest, c.Batch, c.Shards, c.Epochs = 150, 30, 43, 4, 2
	c.Threads = 1
	c.Out = filepath.Join(t.TempDir(), "run")
	return c
}

func run(t *testing.T, c setting.Config, o launcher.Options) *record.Summary {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Worker = []string{self}
	s, err := launcher.Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryWayOfRunningEndsWithTheSameBits(t *testing.T) {
	variants := map[string]func(*setting.Config){
		"one":             func(c *setting.Config) {},
		"two threads":     func(c *setting.Config) { c.Threads = 2 },
		"ddp alone":       func(c *setting.Config) { c.Strategy = "ddp" },
		"two here":        func(c *setting.Config) { c.Workers, c.Link = 2, "local" },
		"two processes":   func(c *setting.Config) { c.Workers = 2 },
		"two over tcp":    func(c *setting.Config) { c.Workers, c.Link = 2, "tcp" },
		"three, gathered": func(c *setting.Config) { c.Workers, c.Strategy = 3, "gather-scatter" },
		"three here": func(c *setting.Config) {
			c.Workers, c.Strategy, c.Link = 3, "all-reduce", "local"
		},
		"four, small":      func(c *setting.Config) { c.Workers, c.Bucket, c.Link = 4, 4096, "local" },
		"four, by halving": func(c *setting.Config) { c.Workers, c.Algorithm = 4, "halving-doubling" },
	}
	want := run(t, short(t), launcher.Options{})
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			c := short(t)
			change(&c)
			s := run(t, c, launcher.Options{Isolate: name == "one"})
			if s.ParameterSHA256 != want.ParameterSHA256 {
				t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
			}
			if s.Loss != want.Loss || *s.TestAccuracy != *want.TestAccuracy ||
				*s.TrainAccuracy != *want.TrainAccuracy {
				t.Errorf("loss %v, accuracy %v, %v, want %v, %v, %v", s.Loss, *s.TrainAccuracy,
					*s.TestAccuracy, want.Loss, *want.TrainAccuracy, *want.TestAccuracy)
			}
			checkSummary(t, c, s)
		})
	}
}

// Without another setting, 1, 2 and 4 workers end with the same bits. Others say what makes them equal.
func TestNumbersOfWorkersEndAlikeByDefault(t *testing.T) {
	end := func(flags map[string]string) (hash, notes string) {
		given := map[string]string{"steps": "3", "limit-train": "200", "limit-test": "0", "link": "local",
			"threads": "1", "save": "false", "out": filepath.Join(t.TempDir(), "run")}
		maps.Copy(given, flags)
		c, origins, err := setting.Resolve(setting.Source{Flags: given})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		return run(t, c, launcher.Options{Origins: origins, Stderr: &said}).ParameterSHA256, said.String()
	}
	const note = "same bits with any number of workers up to 3: add --shards 3"
	want, said := end(nil)
	for _, workers := range []string{"2", "4"} {
		got, notes := end(map[string]string{"workers": workers})
		if said += notes; got != want {
			t.Errorf("%s workers: %s, want %s", workers, got, want)
		}
	}
	three, notes := end(map[string]string{"workers": "3"})
	if !strings.Contains(notes, note) || strings.Contains(said, note) {
		t.Errorf("3 workers say %q, others %q; want the flag of 3 alone", notes, said)
	}
	if got, _ := end(map[string]string{"shards": "3"}); got != three {
		t.Errorf("one worker with the flag: %s, want %s", got, three)
	}
}

// With every wire all replicas end with the same parameters, close to those of one worker, and a lossless
// one changes no bit.
func TestEveryWireTrains(t *testing.T) {
	want := run(t, short(t), launcher.Options{})
	for wire, isLossless := range map[string]bool{"bf16": false, "int8": false, "deflate": true,
		"zstd": true, "top-k": false, "powersgd-1": false, "powersgd-2": false, "powersgd-4": false} {
		c := short(t)
		c.Workers, c.Link, c.Wire = 3, "local", wire
		s := run(t, c, launcher.Options{})
		if isEqual := s.ParameterSHA256 == want.ParameterSHA256; isEqual != isLossless {
			t.Errorf("%s: parameters %s, of one worker %s", wire, s.ParameterSHA256, want.ParameterSHA256)
		}
		if d := math.Abs(s.Loss.Last - want.Loss.Last); d > 0.1 {
			t.Errorf("%s: loss %v, want about %v", wire, s.Loss.Last, want.Loss.Last)
		}
		if s.BytesSent >= s.BytesVectors {
			t.Errorf("%s: %d bytes sent in place of %d", wire, s.BytesSent, s.BytesVectors)
		}
	}
}

// Bytes that measured links and wires are none of the run's: without compression as many are sent as with
// none.
func TestMeasuringIsNoTraffic(t *testing.T) {
	var want int64
	for _, wire := range []string{"fp32", "bf16", "top-k", "auto"} {
		c := short(t)
		c.Workers, c.Link, c.Wire, c.Algorithm = 2, "local", wire, "direct"
		if wire == "fp32" {
			c.Algorithm = "auto" // measures the links
		}
		s := run(t, c, launcher.Options{})
		if want == 0 {
			want = s.BytesVectors
		}
		if s.BytesVectors != want {
			t.Errorf("%s: %d bytes in place of the %d of fp32", wire, s.BytesVectors, want)
		}
	}
}

// Two batches of one step are a step of twice the batch in twice the shards, on any number of workers; the
// learning rate is that of the step.
func TestAccumulatedBatchesAreOneLargeBatch(t *testing.T) {
	large := short(t)
	large.Batch, large.Shards, large.ScaleLR = 86, 8, optim.ScaleRule{Name: "sqrt", Batch: 64}
	large.Clip, large.EMA, large.Optimizer.DecayMatrices = 1, 0.5, true
	large.Lookahead = optim.LookaheadConfig{Every: 2, Alpha: 0.5}
	large.Optimizer.Groups = optim.Groups{{Match: "*.bias", Rate: 2},
		{Match: "*.weight", Rate: 1, WeightDecay: 0.01, Steps: 3}}
	want := run(t, large, launcher.Options{})
	for workers := 1; workers <= 3; workers++ {
		c := large
		c.Batch, c.Shards, c.Accumulate, c.Workers, c.Link = 43, 4, 2, workers, "local"
		c.Out = filepath.Join(t.TempDir(), "run")
		s := run(t, c, launcher.Options{})
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Loss != want.Loss || s.Steps != 4 {
			t.Errorf("%d workers: %d steps to %s, loss %v; want %d to %s, %v", workers, s.Steps,
				s.ParameterSHA256, s.Loss, want.Steps, want.ParameterSHA256, want.Loss)
		}
		if rate := 0.02 * math.Sqrt(86.0/64); s.LearningRate != rate || s.Accumulate != 2 {
			t.Errorf("learning rate %v, accumulated %d, want %v, 2", s.LearningRate, s.Accumulate, rate)
		}
	}
}

// checkSummary checks what holds for every run of short.
func checkSummary(t *testing.T, c setting.Config, s *record.Summary) {
	t.Helper()
	if s.Classes != 10 {
		t.Errorf("%d classes, want the 10 of glyphs", s.Classes)
	}
	if s.Steps != 8 || s.Samples != 300 || s.Epochs != 2 || s.TestSamples != 30 {
		t.Errorf("%d steps, %d samples, %v epochs, %d test samples; want 8, 300, 2, 30",
			s.Steps, s.Samples, s.Epochs, s.TestSamples)
	}
	if len(s.Ranks) != c.Workers || len(s.Evaluations) != 2 {
		t.Fatalf("%d ranks, %d evaluations", len(s.Ranks), len(s.Evaluations))
	}
	var sent, received, samples int64
	for _, r := range s.Ranks {
		p := r.Phases
		total := p.Forward + p.Backward + p.SyncExposed + p.Optimizer + p.Data + p.Evaluation + p.Other
		if math.Abs(total-r.Seconds) > 0.02*r.Seconds {
			t.Errorf("rank %d: phases add up to %v s of %v", r.Rank, total, r.Seconds)
		}
		if r.PeakRSSBytes < 1<<20 || r.StepMS.P10 > r.StepMS.Median || r.StepMS.Median > r.StepMS.P90 {
			t.Errorf("rank %d: %+v", r.Rank, r)
		}
		for _, b := range r.Buckets {
			if b.Steps != s.Steps || b.Bytes == 0 || b.Sent == 0 || b.Hidden == nil ||
				b.Exposed.Seconds+b.Hidden.Seconds <= 0 {
				t.Errorf("rank %d: bucket %+v", r.Rank, b)
			}
		}
		if (len(r.Buckets) > 0) != (c.Workers > 1) {
			t.Errorf("rank %d: %d buckets", r.Rank, len(r.Buckets))
		}
		sent, received, samples = sent+r.BytesSent, received+r.BytesReceived, samples+r.Samples
	}
	if sent != received || sent != s.BytesSent || samples != s.Samples || c.Workers > 1 && sent == 0 {
		t.Errorf("sent %d, received %d, in sum %d; %d samples", sent, received, s.BytesSent, samples)
	}
	if w := s.Work; w == nil || w.FLOPs != s.Samples*flopsPerSample(s) || w.Of <= 0 || w.Of > 2 {
		t.Errorf("work %+v", w)
	}
	checkSteps(t, c, s)
}

// flopsPerSample is what one sample of the run's whole batches took.
func flopsPerSample(s *record.Summary) int64 { return s.Ranks[0].FLOPs / s.Ranks[0].Samples }

// checkSteps reads steps.jsonl: every step of every rank once, with what adds up to the summary.
func checkSteps(t *testing.T, c setting.Config, s *record.Summary) {
	t.Helper()
	f, err := os.Open(filepath.Join(c.Out, "steps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[[2]int]bool{}
	var sent int64
	var excess [8]float64 // by step: sum of the own losses over samples, less the global one
	plan, err := shard.Cut(c.Shards, c.Workers)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l struct {
			Rank, Step, Epoch, Samples int
			Loss, Seconds              float64
			Phases                     map[string]float64
			OwnLoss                    float64 `json:"own_loss"`
			Sent                       int64   `json:"bytes_sent"`
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if seen[[2]int{l.Rank, l.Step}] || l.Epoch != l.Step/4 || len(l.Phases) != 7 || l.Loss <= 0 {
			t.Errorf("odd line: %s", lines.Bytes())
		}
		seen[[2]int{l.Rank, l.Step}] = true
		sent += l.Sent
		lo, hi := plan.Run(l.Rank)
		for v := lo; v < hi; v++ {
			n := shard.Samples(l.Samples, c.Shards, v)
			excess[l.Step] += float64(n) * (l.OwnLoss - l.Loss)
		}
	}
	for i, d := range excess {
		if math.Abs(d) > 1e-9 {
			t.Errorf("step %d: the own losses miss the global one by %v", i, d)
		}
	}
	if len(seen) != 8*c.Workers {
		t.Errorf("%d lines, want %d", len(seen), 8*c.Workers)
	}
	if sent > s.BytesSent || c.Workers > 1 && sent == 0 {
		t.Errorf("steps sent %d bytes, the run %d", sent, s.BytesSent)
	}
}

func TestWorkersThatNeverExchange(t *testing.T) {
	c := short(t)
	c.Workers, c.Strategy, c.Link, c.LimitTest = 2, "none", "local", 0
	s := run(t, c, launcher.Options{})
	if s.Ranks[0].ParameterSHA256 == s.Ranks[1].ParameterSHA256 {
		t.Error("replicas on different samples are equal")
	}
	if s.Samples != 300 || s.BytesSent != 0 || s.TestAccuracy != nil || s.Algorithm != "none" {
		t.Errorf("got %+v", s)
	}
}

func TestTraceHoldsEveryRank(t *testing.T) {
	c := short(t)
	c.Workers, c.Link, c.Trace = 2, "local", true
	run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, "trace.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"rank 0"`, `"rank 1"`, `"exchange"`, `"backward"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("trace has no %s", want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.Out, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProgressComesToTheEnd(t *testing.T) {
	c := short(t)
	var last launcher.Progress
	run(t, c, launcher.Options{Progress: func(p launcher.Progress) { last = p }})
	if last.Step != 8 || last.Steps != 8 || last.Samples != 300 || last.Elapsed <= 0 {
		t.Errorf("last report: %+v", last)
	}
}

func TestRunNotesContention(t *testing.T) {
	c := short(t)
	c.Threads, c.Epochs, c.Steps, c.LimitTest = runtime.NumCPU()+1, 0, 1, 0
	var notes strings.Builder
	run(t, c, launcher.Options{Stderr: &notes})
	if !strings.Contains(notes.String(), "contention") {
		t.Errorf("notes: %q", notes.String())
	}
}

func TestRunOverwritesNothing(t *testing.T) {
	c := short(t)
	run(t, c, launcher.Options{})
	before, err := os.ReadFile(filepath.Join(c.Out, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = launcher.Run(t.Context(), c, launcher.Options{})
	var usage *rundir.FolderError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "already used") {
		t.Errorf("second run into the same directory: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(c.Out, "summary.json"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("summary changed: %v", err)
	}
}

func TestCancelledRunLeavesNothingRunning(t *testing.T) {
	for _, link := range []string{"local", "shm", "tcp"} {
		c := short(t)
		c.Workers, c.Link, c.Epochs = 2, link, 100000
		ctx, cancel := context.WithCancel(t.Context())
		self, _ := os.Executable()
		began := time.Now()
		_, err := launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 3 || time.Since(began) > 20*time.Second {
					cancel()
				}
			}})
		cancel()
		if !errors.Is(err, context.Canceled) || job.ExitCode(err) != job.ExitInterrupted {
			t.Errorf("%s: got %v (exit %d)", link, err, job.ExitCode(err))
		}
	}
}

func TestExitCodes(t *testing.T) {
	tests := map[int]error{
		0:   nil,
		1:   errors.New("anything"),
		2:   &setting.UsageError{Lines: []string{"x"}},
		3:   &data.FormatError{File: "f"},
		4:   &cluster.RendezvousError{Op: "join", Err: errors.New("x")},
		5:   &cluster.WorkerError{Signal: "SIGKILL"},
		6:   &cluster.WorkerError{Reported: true, Status: 6},
		7:   &train.DivergedError{},
		130: &cluster.RendezvousError{Op: "join", Err: context.Canceled},
	}
	turnedAway := &cluster.WorkerError{Status: job.ExitRendezvous}
	if got := job.ExitCode(turnedAway); got != job.ExitRendezvous {
		t.Errorf("status %d for a worker that did not meet the others, want %d", got, job.ExitRendezvous)
	}
	for want, err := range tests {
		if err != nil && want != 130 {
			err = fmt.Errorf("wrapped: %w", err)
		}
		if got := job.ExitCode(err); got != want {
			t.Errorf("%v: exit %d, want %d", err, got, want)
		}
	}
	if got := job.ExitCode(&comm.PeerError{Rank: 1, Err: errors.New("x")}); got != 5 {
		t.Errorf("lost peer: exit %d, want 5", got)
	}
	if got := job.ExitCode(&cluster.LimitError{Err: errors.New("x")}); got != 5 {
		t.Errorf("limit: exit %d, want 5", got)
	}
	if got := job.ExitCode(&data.MissingError{}); got != 3 {
		t.Errorf("missing data: exit %d, want 3", got)
	}
}

// The gradients of a run are told in the order in which backward completes them, and cover the whole vector.
func TestGradientsAreFinalInOrder(t *testing.T) {
	c := setting.Default()
	c.Workers, c.Strategy, c.Shards, c.Link = 2, "all-reduce", 4, "local"
	c.Steps, c.LimitTrain, c.LimitTest, c.Save, c.Out = 3, 128, 0, false, t.TempDir()
	s, err := launcher.Run(t.Context(), c, launcher.Options{})
	if err != nil {
		t.Fatal(err)
	}
	floats, last := int64(0), 0.0
	for _, g := range s.Gradients {
		if g.Ready < last {
			t.Errorf("%+v is final after %g s, the one before after %g", g, g.Ready, last)
		}
		floats, last = floats+int64(g.Len), g.Ready
	}
	if 4*floats != s.GradientBytes || len(s.Gradients) != s.Tensors || last <= 0 {
		t.Errorf("%d floats in %d gradients, the last after %g s; want %d bytes in %d", floats,
			len(s.Gradients), last, s.GradientBytes, s.Tensors)
	}
}
