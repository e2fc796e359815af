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
		if got := abreast(t, c, test.isolated, test.threads); got != test.abreast {
			t.Errorf("%+v: %d abreast", test, got)
		}
	}
}

// abreast returns how many shards the first of some workers computes at a time.
func abreast(t *testing.T, c train.Config, workers, threads int) int {
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
	return l.Abreast()
}

// A limit of memory, and a worker that exchanges, leave shards one after the other.
func TestShardsAreNotAbreast(t *testing.T) {
	c := example(t, "lenet", 22, 5)
	c.Batch, c.Plan = 8, cut(t, 4, 1)
	for _, test := range []struct {
		limit int64
		want  int
	}{{1 << 30, 2}, {1 << 16, 1}} {
		c.MemoryLimit = test.limit
		if got := abreast(t, c, 1, 2); got != test.want {
			t.Errorf("with %d bytes of memory: %d abreast, want %d", test.limit, got, test.want)
		}
	}
	c.MemoryLimit = 0
	c.Updater = func(l *train.Loop) (train.Updater, error) { return train.NewLocal(l) }
	if got := abreast(t, c, 2, 2); got != 1 {
		t.Errorf("one of two workers: %d abreast", got)
	}
}
