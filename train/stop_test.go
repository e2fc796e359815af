package train_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"lockstep/compute"
	"lockstep/train"
)

// Workers that stop together end after the same step, the one in which rank 0 learns that it is
// cancelled, and all of them can save what they have then. When the others learn of it makes no
// difference.
func TestWorkersStopTogether(t *testing.T) {
	c := example(t, "lenet", 100, 10)
	c.EvalEvery, c.StopsTogether = 1, true
	c.Plan = cut(t, c.Plan.Shards(), 2)
	hub := newHub(c.Plan)
	var albums [2]album
	var errs [2]error
	var wait sync.WaitGroup
	for rank := range 2 {
		cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
		if err != nil {
			t.Fatal(err)
		}
		defer cpu.Close()
		c := c
		c.Rank, c.CPU, c.Checkpointer = rank, cpu, &albums[rank]
		c.Updater = func(l *train.Loop) (train.Updater, error) { return hub.join(rank, l) }
		l, err := train.New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &stopper{cancel: cancel} // in step 2, so that step 3 is the last
		if rank == 1 {
			cancel() // before its first step
		}
		wait.Go(func() {
			_, errs[rank] = l.Run(ctx, s)
			if len(s.evaluations) != 0 {
				t.Errorf("rank %d evaluates", rank)
			}
		})
	}
	wait.Wait()
	for rank := range 2 {
		kept := albums[rank].snapshots
		if !errors.Is(errs[rank], context.Canceled) || len(kept) != 1 || kept[0].Step != 4 {
			t.Errorf("rank %d: error %v, %d snapshots %+v; want one after step 4", rank, errs[rank],
				len(kept), kept)
		}
	}
}
