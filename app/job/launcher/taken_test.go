package launcher

import (
	"math"
	"testing"

	"lockstep/app/record"
)

// Workers of one machine are not others to each other; those of another machine do not count.
func TestWhatOthersTook(t *testing.T) {
	rank := func(name string, own float64) record.RankStat {
		return record.RankStat{Host: name, Cores: record.CoreTimes{All: 10, Busy: 7, Stolen: 2, Own: own}}
	}
	ranks := []record.RankStat{rank("a", 3), rank("a", 3.5), rank("b", 4)}
	for _, c := range []struct {
		ranks        []record.RankStat
		isOneProcess bool
		isLab        bool
		want         float64
	}{{ranks, false, false, 0.05}, {ranks[:2], true, false, 0.35},
		{[]record.RankStat{rank("a", 8)}, false, false, 0},
		{[]record.RankStat{rank("a", 3), rank("b", 3)}, false, true, 0.1},
	} {
		got := takenOf(c.ranks, nil, c.isOneProcess, c.isLab)
		if got == nil || got.Stolen != 0.2 || math.Abs(got.Others-c.want) > 1e-9 {
			t.Errorf("%d ranks: %+v, want 0.2 stolen, others %v", len(c.ranks), got, c.want)
		}
	}
	for _, few := range []record.CoreTimes{{}, {All: 0.5, Busy: 0.5, Own: 0.1}, {All: 10, Busy: 5}} {
		if got := takenOf([]record.RankStat{{Cores: few}}, nil, false, false); got != nil {
			t.Errorf("%+v gives %+v, want that it is unknown", few, got)
		}
	}
}

// The energy of a run is that of each machine once, however many workers tell it; of all hosts of a lab that
// of one. Without that of one host there is no sum.
func TestEnergyOfMachines(t *testing.T) {
	rank := func(host string, joules float64) record.RankStat {
		return record.RankStat{Host: host, Cores: record.CoreTimes{Joules: joules}}
	}
	all := []record.RankStat{rank("a", 10), rank("a", 11), rank("b", 20)}
	if got := energyOf(all, false); got != 30 {
		t.Errorf("two hosts: %v J, want 30", got)
	}
	if got := energyOf(all, true); got != 10 {
		t.Errorf("a lab: %v J, want 10", got)
	}
	if got := energyOf(append(all, rank("c", 0)), false); got != 0 {
		t.Errorf("a host that does not tell: %v J, want 0", got)
	}
}
