package train_test

import (
	"context"
	"errors"
	"strings"
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

// A run that is stopped before it begins says that its first step is missing, which is step 1 to people.
func TestStopNamesTheNextStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := runOne(t, example(t, "lenet", 30, 10), ctx, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "train: rank 0 stopped before step 1: ") {
		t.Errorf("got %v", err)
	}
}

// An evaluation alone has no step to name.
func TestErrorOfAnEvaluationNamesNoStep(t *testing.T) {
	c := example(t, "lenet", 100, 10)
	c.EvalOnly = true
	c.Updater = func(l *train.Loop) (train.Updater, error) {
		return train.NewWhole(l, faulty{sum: errors.New("peer 1 lost")})
	}
	_, err := runOne(t, c, t.Context(), nil)
	if err == nil || err.Error() != "train: rank 0: sum of test results: peer 1 lost" {
		t.Errorf("got %v", err)
	}
}
