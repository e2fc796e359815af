package train_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"lockstep/comm"
	"lockstep/compute"
	"lockstep/gradsync"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/ps"
	"lockstep/train"
)

// service is a run with parameter servers, each rank in a goroutine.
type service struct {
	config           train.Config
	workers, servers int
	isApart          bool
	push, pull       string
	threads          int
	// begin may change what a worker starts from, end look at where it ends.
	begin func(rank int, l *train.Loop, c *ps.Client) error
	end   func(rank int, c *ps.Client) error

	// ledger decides the order of updates; nil: they are synchronous. updates are those it decided.
	ledger  *ps.LedgerConfig
	updates []ps.Applied
	dies    int           // the rank that is gone after some batches; 0: none
	dead    chan struct{} // closed when it is

	layout *ps.Layout
	params []optim.Param
}

func wire(t *testing.T, name string) gradsync.Wire {
	t.Helper()
	if name == "" {
		return gradsync.Wire{}
	}
	w, err := gradsync.ParseWire(name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// lay computes the layout from a loop that never runs.
func (s *service) lay(t *testing.T) {
	t.Helper()
	c := s.config
	c.Plan = cut(t, c.Plan.Shards(), 1)
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	c.CPU = cpu
	l, err := train.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	v := l.Variables()
	config := ps.LayoutConfig{Plan: cut(t, c.Plan.Shards(), s.workers), Order: v.Order, Len: len(v.Weights),
		BucketBytes: 64 << 10, Servers: s.servers, IsApart: s.isApart,
		IsWhole: !optim.IsElementwise(c.Optimizer.Name), RowLen: train.RowLen(len(v.State))}
	for _, seg := range v.Segments {
		config.Segments = append(config.Segments, gradsync.Segment{Offset: seg.Offset, Len: seg.Len})
	}
	lay := ps.NewLayout
	if s.ledger != nil {
		lay = ps.AsyncLayout
	}
	if s.layout, err = lay(config); err != nil {
		t.Fatal(err)
	}
	s.params = l.Parameters()
}

// run trains, and returns the workers' outcomes.
func (s *service) run(t *testing.T, meshes []comm.Mesh) []outcome {
	t.Helper()
	outcomes, errs := make([]outcome, s.workers), make([]error, len(meshes))
	var wait sync.WaitGroup
	for rank, mesh := range meshes {
		wait.Go(func() { errs[rank] = s.process(t, rank, mesh, outcomes) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// process is one rank: a worker, servers, or both.
func (s *service) process(t *testing.T, rank int, mesh comm.Mesh, outcomes []outcome) error {
	c := comm.PostConfig{}
	if s.ledger != nil {
		c.MayLose = s.layout.MayLose
	}
	post := comm.NewPost(mesh, c)
	errs := make([]error, s.servers+1)
	var serving sync.WaitGroup
	for number, home := range s.layout.Homes {
		if home == rank {
			serving.Go(func() {
				if errs[number] = s.serve(t, post, number); errs[number] != nil {
					post.Shutdown()
				}
			})
		}
	}
	if rank < s.workers {
		if errs[s.servers] = s.work(t, rank, post, &outcomes[rank]); errs[s.servers] != nil {
			post.Shutdown()
		}
	}
	serving.Wait()
	return errors.Join(append(errs, post.Close())...)
}

// serve runs one server.
func (s *service) serve(t *testing.T, post *comm.Post, number int) error {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: s.threads, Crowded: true})
	if err != nil {
		return err
	}
	defer cpu.Close()
	part := s.layout.Parts[number]
	own, total := optim.Share(s.params, part.Shares)
	rows := row.On(cpu)
	c := ps.ServerConfig{Post: post, Layout: s.layout, Number: number, Weights: post.Alloc(total),
		Add:  func(dst, src []float32) { rows.Add(dst, dst, src) },
		Push: wire(t, s.push), Pull: wire(t, s.pull)}
	rule, err := optim.New(s.config.Optimizer, cpu, c.Weights, own)
	if err != nil {
		return err
	}
	c.Rule = rule
	for _, v := range rule.State() {
		c.State = append(c.State, v.Data)
	}
	if s.config.Clip > 0 {
		c.Clip = optim.NewClip(s.config.Clip, cpu, total)
	}
	if s.ledger != nil {
		return s.serveAsync(c)
	}
	server, err := ps.NewServer(c)
	if err != nil {
		return err
	}
	return server.Serve()
}

// work runs one worker.
func (s *service) work(t *testing.T, rank int, post *comm.Post, o *outcome) (err error) {
	c := s.config
	c.Rank, c.Plan, c.Alloc = rank, cut(t, c.Plan.Shards(), s.workers), post.Alloc
	if c.CPU, err = compute.Open(compute.Config{ISA: compute.Best(), Threads: s.threads,
		Crowded: true}); err != nil {
		return err
	}
	defer c.CPU.Close()
	var client *ps.Client
	closing := func() error { return client.Close() }
	c.WholeBatches = s.ledger != nil
	c.Updater = func(l *train.Loop) (u train.Updater, err error) {
		if s.ledger != nil {
			return s.joinAsync(rank, post, l, &closing)
		}
		client, err = ps.NewClient(ps.ClientConfig{Post: post, Layout: s.layout, Pieces: l.Pieces(),
			Weights: l.Variables().Weights, Push: wire(t, s.push), Pull: wire(t, s.pull)})
		if err != nil {
			return nil, err
		}
		return train.NewServed(l, client)
	}
	loop, err := train.New(c)
	if err != nil {
		return err
	}
	defer loop.Close()
	if s.begin != nil {
		if err := s.begin(rank, loop, client); err != nil {
			return err
		}
	}
	if o.Result, err = loop.Run(context.Background(), &o.diary); err != nil {
		return err
	}
	if s.end != nil {
		err = s.end(rank, client)
	}
	return errors.Join(err, closing())
}

// Servers, co-located and apart, give the bits of one worker: with every optimizer, lossless codecs,
// clipping, shards of unequal sizes and a ragged last batch.
func TestServersGiveTheHashOfOneWorker(t *testing.T) {
	for _, optimizer := range []string{"sgd", "adamw", "lamb", "muon"} {
		c := example(t, "lenet", 100, 37)
		c.Optimizer.Name = optimizer
		want := run(t, c, 1, 1, compute.Best())[0]
		for workers := 1; workers <= 4; workers++ {
			for servers := 1; servers <= 3; servers++ {
				for _, isApart := range []bool{false, true} {
					if testing.Short() && (workers+servers)%2 == 0 {
						continue
					}
					s := &service{config: c, workers: workers, servers: servers, isApart: isApart,
						threads: 1 + servers%2}
					name := fmt.Sprintf("%s/%dx%d/%t", optimizer, workers, servers, isApart)
					t.Run(name, func(t *testing.T) { s.compare(t, want) })
				}
			}
		}
	}
}

// compare runs s and compares all outcomes with want.
func (s *service) compare(t *testing.T, want outcome) {
	t.Helper()
	s.lay(t)
	for rank, got := range s.run(t, comm.NewLocal(s.layout.Ranks())) {
		compareOutcomes(t, fmt.Sprintf("rank %d", rank), got, want)
	}
}

func TestServersWithCodecsAndClipping(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	want := run(t, c, 1, 1, compute.Best())[0]
	for _, name := range gradsyncLossless() {
		(&service{config: c, workers: 3, servers: 2, push: name, pull: name, threads: 1}).compare(t, want)
	}
	c.Clip, c.EMA = 0.01, 0.9
	want = run(t, c, 1, 1, compute.Best())[0]
	(&service{config: c, workers: 3, servers: 1, threads: 1}).compare(t, want)
	(&service{config: c, workers: 2, servers: 1, isApart: true, threads: 1}).compare(t, want)
}

// gradsyncLossless returns the names of the wires that change no bit.
func gradsyncLossless() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		if !w.IsLossy() && !w.IsAuto() {
			names = append(names, w.String())
		}
	}
	return slices.Compact(names)
}

// The last batch of an epoch has samples for two of four shards: workers without any push zeros.
func TestServersWithEmptyShards(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.Batch = 49
	want := run(t, c, 1, 1, compute.Best())[0]
	(&service{config: c, workers: 4, servers: 2, threads: 1}).compare(t, want)
	(&service{config: c, workers: 3, servers: 3, isApart: true, threads: 1}).compare(t, want)
}
