package train_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/train"
)

// Shards that are computed abreast end with the bits of one after the other: with batch norm, in uneven and
// empty shards (the last batch of 22 samples has 2), with more threads than shards abreast, alone and
// isolated.
func TestShardsAbreastChangeNoBit(t *testing.T) {
	for _, test := range []struct {
		model            string
		batch            int
		shards, isolated int
		threads, abreast int
	}{
		{"resnet20", 10, 4, 1, 2, 2}, {"resnet20", 10, 4, 1, 4, 4}, {"resnet20", 10, 6, 1, 4, 2},
		{"resnet20", 10, 5, 1, 2, 1}, {"lenet", 10, 2, 1, 4, 2}, {"lenet", 20, 8, 2, 2, 2},
		{"lenet", 20, 6, 2, 2, 1},
	} {
		c := example(t, test.model, 22, 5)
		c.Batch, c.Plan, c.Steps, c.Isolated = test.batch, cut(t, test.shards, 1), 5, test.isolated > 1
		want := run(t, c, test.isolated, 1, compute.Best())
		for rank, got := range run(t, c, test.isolated, test.threads, compute.Best()) {
			compareOutcomes(t, fmt.Sprintf("%+v, rank %d", test, rank), got, want[rank])
		}
		if _, got := arenas(t, c, test.isolated, test.threads); got != test.abreast {
			t.Errorf("%+v: %d abreast", test, got)
		}
	}
}

// arenas returns the bytes of the arenas of the first of some workers, and how many shards it computes at a
// time.
func arenas(t *testing.T, c train.Config, workers, threads int) (bytes int64, abreast int) {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	c.CPU, c.Plan = cpu, cut(t, c.Plan.Shards(), workers)
	l, err := train.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.ArenaBytes(), l.Abreast()
}

// A limit of memory halves the shards abreast until they fit; a worker that exchanges, or is told so, has
// one after the other.
func TestShardsAreNotAbreast(t *testing.T) {
	c := example(t, "lenet", 22, 5)
	c.Batch, c.Plan, c.InTurn = 20, cut(t, 4, 1), true
	one, inTurn := arenas(t, c, 1, 4)
	if inTurn != 1 {
		t.Errorf("in turn: %d abreast", inTurn)
	}
	c.InTurn = false
	for _, test := range []struct{ limit, want int64 }{{5, 4}, {3, 2}, {1, 1}} {
		c.MemoryLimit = test.limit * one
		bytes, got := arenas(t, c, 1, 4)
		if int64(got) != test.want || bytes > c.MemoryLimit {
			t.Errorf("memory for %d lanes: %d abreast in %d bytes, want %d", test.limit, got, bytes,
				test.want)
		}
	}
	c.MemoryLimit = 0
	c.Updater = func(l *train.Loop) (train.Updater, error) { return train.NewLocal(l) }
	if _, got := arenas(t, c, 2, 2); got != 1 {
		t.Errorf("one of two workers: %d abreast", got)
	}
}
