package train_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/comm"
	"lockstep/compute"
	"lockstep/ps"
	"lockstep/train"
)

// serveAsync runs one asynchronous server.
func (s *service) serveAsync(c ps.ServerConfig) error {
	server, err := ps.NewAsyncServer(ps.AsyncConfig{ServerConfig: c, Ledger: *s.ledger,
		OnUpdate: func(u ps.Update) {
			if !u.IsDropped {
				s.updates = append(s.updates, ps.Applied{Batch: u.Batch, Version: u.Version})
			}
		}})
	if err != nil {
		return err
	}
	return server.Serve()
}

// joinAsync makes the updater of an asynchronous worker.
func (s *service) joinAsync(rank int, post *comm.Post, l *train.Loop, closing *func() error) (
	train.Updater, error) {
	client, err := ps.NewAsyncClient(ps.ClientConfig{Post: post, Layout: s.layout, Pieces: l.Pieces(),
		Weights: l.Variables().Weights})
	if err != nil {
		return nil, err
	}
	*closing = client.Close
	u, err := train.NewAsync(l, client)
	if rank > 0 && rank == s.dies {
		return &mortal{Updater: u, dead: s.dead}, err
	}
	if s.dies > 0 {
		return &patient{Updater: u, dead: s.dead}, err
	}
	return u, err
}

// mortal is the Updater of a worker that dies with the third batch it is given.
type mortal struct {
	train.Updater
	batches int
	dead    chan struct{}
}

var errDead = errors.New("dead")

func (m *mortal) Next(step int) (train.Work, error) {
	w, err := m.Updater.Next(step)
	if m.batches++; m.batches == 3 {
		close(m.dead)
		return w, errDead
	}
	return w, err
}

// patient is the Updater of a worker that asks for no twentieth batch before another has died: on few
// processors it could take all that there are.
type patient struct {
	train.Updater
	batches int
	dead    <-chan struct{}
}

func (p *patient) Next(step int) (train.Work, error) {
	if p.batches++; p.batches == 20 {
		<-p.dead
	}
	return p.Updater.Next(step)
}

// layAsync computes ledger and layout.
func (s *service) layAsync(t *testing.T, replay []ps.Applied) {
	t.Helper()
	c := s.config
	perEpoch := (c.Train.Len() + c.Batch - 1) / c.Batch
	s.updates = nil
	s.ledger = &ps.LedgerConfig{Workers: s.workers, PerEpoch: perEpoch, To: c.Epochs * perEpoch,
		Staleness: 4 * s.workers, Replay: replay, Continuous: s.workers > 1}
	if replay != nil {
		s.ledger.Staleness = len(replay)
	}
	s.lay(t)
}

// runAsync runs s with an order of its own, or repeats one.
func (s *service) runAsync(t *testing.T, replay []ps.Applied) []outcome {
	t.Helper()
	s.layAsync(t, replay)
	return s.run(t, comm.NewLocal(s.layout.Ranks()))
}

// One asynchronous worker, and a replay of its order by several, end with the hash of one worker.
// Several workers agree on the result, and a replay by another number of them ends with their hash.
func TestAsynchronousWorkers(t *testing.T) {
	for _, model := range []string{"lenet", "resnet20"} {
		c := example(t, model, 50, 12)
		c.Steps, c.Epochs, c.EvalEvery = 0, 2, 1
		if model == "resnet20" && testing.Short() {
			continue
		}
		want := run(t, c, 1, 1, compute.Best())[0]
		one := &service{config: c, workers: 1, servers: 2, isApart: true, threads: 1}
		got := one.runAsync(t, nil)[0]
		compareOutcomes(t, model+": alone", got, want)
		if len(got.evaluations) != 2 || got.Samples != want.Samples || got.LastLoss != want.LastLoss {
			t.Errorf("%s: %d evaluations of %d samples, last loss %v, want those of one worker", model,
				len(got.evaluations), got.Samples, got.LastLoss)
		}
		three := &service{config: c, workers: 3, servers: 1, threads: 1}
		for rank, got := range three.runAsync(t, one.updates) {
			if got.ParameterSHA256 != want.ParameterSHA256 || got.Test.Correct != want.Test.Correct {
				t.Errorf("%s: replay: rank %d ends with %s, want %s", model, rank, got.ParameterSHA256,
					want.ParameterSHA256)
			}
		}
		all := three.runAsync(t, nil)
		two := &service{config: c, workers: 2, servers: 3, threads: 1}
		again := two.runAsync(t, three.updates)
		for rank, got := range append(all, again...) {
			if got.ParameterSHA256 != all[0].ParameterSHA256 || got.TrainCorrect != all[0].TrainCorrect ||
				got.Samples != want.Samples {
				t.Errorf("%s: rank %d ends with %s after %d samples, want %s after %d", model, rank,
					got.ParameterSHA256, got.Samples, all[0].ParameterSHA256, want.Samples)
			}
		}
	}
}

// Rank 0 evaluates after an epoch while the others go on with the next one, and every sample of both is
// used once.
func TestRankZeroEvaluatesAlone(t *testing.T) {
	c := example(t, "lenet", 160, 4)
	c.Steps, c.Epochs, c.EvalEvery, c.Batch = 0, 2, 1, 4
	s := &service{config: c, workers: 3, servers: 1, threads: 1}
	all := s.runAsync(t, nil)
	for rank, got := range all {
		if n := len(got.evaluations); n != 2-min(1, rank) || got.TrainSamples != 160 || got.Samples != 320 {
			t.Errorf("rank %d: %d evaluations, %d samples, %d in the last epoch", rank, n, got.Samples,
				got.TrainSamples)
		}
	}
	if e := all[0].evaluations[0]; e.Steps < 40 || e.Steps > 40+4*s.workers || e.Time != 0 {
		t.Errorf("%+v, want one soon after 40 steps that keeps nobody waiting", e)
	}
}

// The loop of an asynchronous run goes on without a worker, and every sample is used once (which the
// loop checks at the end of each epoch).
func TestAsynchronousWorkerDies(t *testing.T) {
	c := example(t, "lenet", 100, 10)
	c.Steps, c.Epochs = 0, 12
	s := &service{config: c, workers: 3, servers: 1, threads: 1, dies: 2, dead: make(chan struct{})}
	s.layAsync(t, nil)
	outcomes, errs := make([]outcome, 3), make([]error, 3)
	done := make(chan int)
	for rank, mesh := range comm.NewLocal(s.layout.Ranks()) {
		go func() {
			errs[rank] = s.process(t, rank, mesh, outcomes)
			done <- rank
		}()
	}
	for range outcomes {
		<-done
	}
	if !errors.Is(errs[2], errDead) || errs[0] != nil || errs[1] != nil {
		t.Fatalf("errors %v, want only that of rank 2", errs)
	}
	if outcomes[0].Samples != 1200 || outcomes[0].ParameterSHA256 != outcomes[1].ParameterSHA256 {
		t.Errorf("%d samples, hashes %s and %s", outcomes[0].Samples, outcomes[0].ParameterSHA256,
			outcomes[1].ParameterSHA256)
	}
}

func TestNewAsyncRefuses(t *testing.T) {
	for want, change := range map[string]func(*train.Config){
		"want whole batches": func(c *train.Config) { c.WholeBatches = false },
		"clipping at 1":      func(c *train.Config) { c.Clip = 1 },
		"averages of decay":  func(c *train.Config) { c.EMA = 0.5 },
	} {
		c := example(t, "lenet", 20, 10)
		c.WholeBatches = true
		change(&c)
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer cpu.Close()
		c.CPU = cpu
		c.Updater = func(l *train.Loop) (train.Updater, error) { return train.NewAsync(l, nil) }
		if _, err := train.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
