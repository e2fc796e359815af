package compare_test

import (
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// Rows whose batch grows with the workers are compared by samples per second with a worker alone, and get no
// speed-up.
func TestWeakScaling(t *testing.T) {
	m := newMaker(6, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 8, PerWorker: 8, Shards: 1}, 1, 1, 1, 1, 1, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Batch: 16, PerWorker: 8, Shards: 2}, 1.25, 1.25,
		1.25, 1.25, 1.25, 1.25)
	c := compare.Compare(m.Results)
	if len(c.Groups) != 2 {
		t.Fatalf("%d groups, want one for each batch", len(c.Groups))
	}
	if l := c.Groups[1].Lines[0]; l.Speedup.Known() {
		t.Errorf("speed-up %v of another batch", l.Speedup)
	}
	wantNote(t, c, "weak scaling", "does 1.60 times the samples per second of single 1×1 (1.60 to 1.60), "+
		"80 % of what each worker does alone")
}

// One round has no interval, and a worker of another program is not the one that ours are compared with.
func TestWeakScalingOfOneRound(t *testing.T) {
	m := newMaker(1, 2)
	m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 8, PerWorker: 8, Shards: 1, Peer: "pytorch",
		Options: "pytorch+nchw"}, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, Batch: 8, PerWorker: 8, Shards: 1}, 1)
	m.add(record.Setting{Strategy: "ddp", Workers: 2, Batch: 16, PerWorker: 8, Shards: 2}, 1.25)
	wantNote(t, compare.Compare(m.Results), "weak scaling",
		"does 1.60 times the samples per second of single 1×1 (one round, so no interval), 80 %")
}
