package train_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lockstep/comm"
	"lockstep/compute"
	"lockstep/gradsync"
	"lockstep/train"
)

// exchangeRun trains c with the given number of workers and threads, and a real strategy over
// in-process links.
func exchangeRun(t *testing.T, c train.Config, workers, threads int,
	strategy, algorithm string) []outcome {
	t.Helper()
	c.Plan = cut(t, c.Plan.Shards(), workers)
	outcomes, errs := make([]outcome, workers), make([]error, workers)
	var wait sync.WaitGroup
	for rank, mesh := range comm.NewLocal(workers) {
		c := c
		c.Rank = rank
		o := &outcomes[rank]
		wait.Go(func() { errs[rank] = exchangeWorker(c, threads, mesh, strategy, algorithm, o) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func exchangeWorker(c train.Config, threads int, mesh comm.Mesh, strategy, algorithm string,
	o *outcome) (err error) {
	group, err := comm.NewGroup(mesh, comm.Config{Plan: c.Plan, Algorithm: algorithm})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	if c.CPU, err = compute.Open(compute.Config{ISA: compute.Best(), Threads: threads,
		Crowded: true}); err != nil {
		return err
	}
	defer c.CPU.Close()
	strategy, isMoving := strings.CutPrefix(strategy, "moving ")
	var exchange gradsync.Exchange
	c.Updater = func(l *train.Loop) (u train.Updater, err error) {
		u, exchange, err = updater(l, group, strategy)
		if err == nil && isMoving {
			u, err = moving(l, u, exchange)
		}
		return u, err
	}
	loop, err := train.New(c)
	if err != nil {
		return err
	}
	defer loop.Close()
	planned := loop.Memory()
	o.Result, err = loop.Run(context.Background(), &o.diary)
	if used := loop.Memory(); used.Variables > planned.Variables || used.Batches > planned.Batches {
		err = errors.Join(err, fmt.Errorf("%+v planned, at the end %+v", planned, used))
	}
	return errors.Join(err, exchange.Close())
}

// updater makes the exchange of that name, which may be "sharded" and "late" besides those of
// gradsync.New, and its Updater.
func updater(l *train.Loop, group *comm.Group, strategy string) (
	train.Updater, gradsync.Exchange, error) {
	v := l.Variables()
	c := gradsync.Config{Group: group, Order: v.Order, Pieces: l.Pieces(), BucketBytes: 64 << 10}
	for _, s := range v.Segments {
		c.Segments = append(c.Segments, gradsync.Segment{Offset: s.Offset, Len: s.Len})
	}
	switch strategy {
	case "sharded":
		s, err := gradsync.NewSharded(c)
		if err != nil {
			return nil, nil, err
		}
		u, err := train.NewSharded(l, s)
		return u, s, err
	case "late":
		s, err := gradsync.NewLate(c)
		if err != nil {
			return nil, nil, err
		}
		u, err := train.NewLate(l, s)
		return u, s, err
	}
	s, err := gradsync.New(strategy, c)
	if err != nil {
		return nil, nil, err
	}
	u, err := train.NewWhole(l, s)
	return u, s, err
}

// Three networks, with a batch that the shards divide unevenly and a smaller last one.
func TestOneHashForEveryStrategyAndAlgorithm(t *testing.T) {
	lenet, vgg11 := example(t, "lenet", 100, 37), example(t, "vgg11", 13, 5)
	vgg11.Batch, vgg11.Steps = 9, 2
	resnet20 := example(t, "resnet20", 13, 5)
	resnet20.Batch, resnet20.Steps = 9, 2
	for _, c := range []train.Config{lenet, vgg11, resnet20} {
		isDeep := c.Network.Name != "lenet"
		if testing.Short() && isDeep {
			continue
		}
		want := run(t, c, 1, 1, compute.Best())[0]
		for _, workers := range []int{2, 3, 4} {
			for i, pair := range [][2]string{
				{"gather-scatter", ""}, {"all-reduce", "direct"}, {"all-reduce", "gather"},
				{"all-reduce", "halving-doubling"}, {"ddp", "direct"}, {"ddp", "halving-doubling"},
				{"ddp", "gather"}, {"ddp", "auto"}, {"sharded", "auto"},
				{"late", "auto"},
			} {
				if isDeep && (i+workers)%3 > 0 {
					continue // every pair and every number of workers is met; a third of the time
				}
				threads := 1 + (i+workers)/2%2
				name := fmt.Sprintf("%s/%s/%s/%dx%d", c.Network.Name, pair[0], pair[1], workers, threads)
				t.Run(name, func(t *testing.T) {
					for rank, got := range exchangeRun(t, c, workers, threads, pair[0], pair[1]) {
						compareOutcomes(t, fmt.Sprintf("rank %d", rank), got, want)
					}
				})
			}
		}
	}
}

func TestRingGivesAllRanksTheSameBits(t *testing.T) {
	c := example(t, "lenet", 60, 10)
	outcomes := exchangeRun(t, c, 3, 1, "ddp", "ring")
	for rank, o := range outcomes {
		compareOutcomes(t, fmt.Sprintf("rank %d", rank), o, outcomes[0])
	}
}
