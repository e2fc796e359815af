package job

import (
	"math"
	"testing"
	"time"
)

// Workers of one machine are not others to each other; those of another machine do not count.
func TestWhatOthersTook(t *testing.T) {
	rank := func(host string, own float64) RankStat {
		return RankStat{Host: host, Cores: coreTimes{All: 10, Busy: 7, Stolen: 2, Own: own}}
	}
	ranks := []RankStat{rank("a", 3), rank("a", 3.5), rank("b", 4)}
	for _, c := range []struct {
		ranks        []RankStat
		isOneProcess bool
		want         float64
	}{{ranks, false, 0.05}, {ranks[:2], true, 0.35}, {[]RankStat{rank("a", 8)}, false, 0}} {
		got := takenOf(c.ranks, c.isOneProcess)
		if got == nil || got.Stolen != 0.2 || math.Abs(got.Others-c.want) > 1e-9 {
			t.Errorf("%d ranks: %+v, want 0.2 stolen, others %v", len(c.ranks), got, c.want)
		}
	}
	for _, few := range []coreTimes{{}, {All: 0.5, Busy: 0.5, Own: 0.1}, {All: 10, Busy: 5}} {
		if got := takenOf([]RankStat{{Cores: few}}, false); got != nil {
			t.Errorf("%+v gives %+v, want that it is unknown", few, got)
		}
	}
}

// The system's figures of a busy tenth of a second, where it has them: this process took some of the time.
func TestCoresNow(t *testing.T) {
	start := coresNow()
	if start == (coreTimes{}) {
		t.Skip("the system does not tell")
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
	}
	got := coresNow().since(start)
	if got.All < 0.2 || got.Own <= 0 || got.Own > got.All || got.Busy+got.Stolen > got.All+1e-6 {
		t.Errorf("%+v after 300 ms of work", got)
	}
}
