package cluster

import (
	"testing"
	"time"
)

// A round trip tells the offset of a clock, within half of what it took.
func TestRoundTripsTellTheSkew(t *testing.T) {
	launcher := time.Now()
	const ahead = 3 * time.Second // the worker's clock is
	trip := func(there, wait, back time.Duration) (Skew, bool) {
		sent := launcher.Add(ahead)
		came := launcher.Add(there)
		left := came.Add(wait)
		return skewOf(sent, left.Add(back+ahead), stamp(nil, came, left))
	}
	for _, c := range [][3]time.Duration{{1e6, 5e6, 1e6}, {0, 5e6, 20e6}, {20e6, 0, 0}} {
		s, ok := trip(c[0], c[1], c[2])
		if off := s.Offset - ahead; !ok || s.Error != (c[0]+c[2])/2 || off > s.Error || -off > s.Error {
			t.Errorf("%v: %+v, %v", c, s, ok)
		}
	}
	if _, ok := skewOf(launcher, launcher, nil); ok {
		t.Error("an answer without times tells a skew")
	}
	if _, ok := trip(1e6, 0, -3e6); ok {
		t.Error("a round trip of less than no time tells a skew")
	}
	var k skewed
	k.add(Skew{1, 5e6}, launcher)
	k.add(Skew{2, 6e6}, launcher.Add(time.Second)) // no better
	if got := k.now(launcher.Add(2 * time.Second)); got != (Skew{1, 5.1e6}) {
		t.Errorf("%+v after two seconds, want that of the better one, and 100 us of drift", got)
	}
	k.add(Skew{2, 6e6}, launcher.Add(time.Minute))
	if got := k.now(launcher.Add(time.Minute)); got != (Skew{2, 6e6}) {
		t.Errorf("%+v after a minute, want the later one", got)
	}
}

// The answer to a pulse carries the launcher's time.
func TestPulsesTellTheSkew(t *testing.T) {
	_, u := openPair(t, time.Second)
	began := time.Now()
	u.beat()
	eventually(t, "the answer", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return u.skew.isSet })
	took := time.Since(began)
	if s := u.skew.best; s.Error <= 0 || s.Error > took || s.Offset > s.Error || -s.Offset > s.Error {
		t.Errorf("%+v by a round trip of at most %v on one clock", s, took)
	}
}
