package gradsync

import (
	"fmt"
	"slices"
	"time"

	"lockstep/comm"
)

// Trial is what "ddp" did with one size of buckets.
type Trial struct {
	BucketBytes int `json:"bucket_bytes"`
	Buckets     int `json:"buckets"` // of that size or about
	// Seconds is rank 0's median over Steps, from the first forward pass to the last gradient.
	Seconds  float64 `json:"seconds"`
	Steps    int     `json:"steps"`
	IsChosen bool    `json:"is_chosen"`
}

// Each size is tried in trialRounds steps, all in turn, after one step each that does not count: it lays
// out the exchange.
const trialRounds = 9

// TrialSizes returns the bucket sizes worth a trial for gradients of some bytes: powers of four from 256
// KiB, and all in one.
func TrialSizes(bytes int) []int {
	var sizes []int
	for size := 256 << 10; size < bytes; size *= 4 {
		sizes = append(sizes, size)
	}
	return append(sizes, bytes)
}

// tuned is "ddp" that tries sizes of buckets in the first steps of a run and goes on with the best. Exact
// sums do not depend on the buckets, so the trials are steps like all others.
type tuned struct {
	Strategy   // of this step
	group      *comm.Group
	candidates []Strategy
	trials     []Trial
	times      [][]time.Duration // by trial
	step       int               // since New
	began      time.Time
	done       func([]Trial)
	verdict    [1]byte
}

// NewTuned returns "ddp" that tries TrialSizes of buckets in turn for its first ten steps each, calls done
// with the results, and goes on with the size whose steps were shortest. Rank 0 decides for all. It
// refuses a Wire that is lossy or "auto": residuals and rounded sums depend on the buckets.
func NewTuned(c Config, done func([]Trial)) (Strategy, error) {
	if c.Wire.IsAuto() || c.Wire.IsLossy() {
		return nil, fmt.Errorf("gradsync: buckets are tried only where sums do not depend on them")
	}
	bytes := 0
	for _, s := range c.Segments {
		bytes = max(bytes, 4*(s.Offset+s.Len))
	}
	t := &tuned{group: c.Group, done: done}
	for _, size := range TrialSizes(bytes) {
		c.BucketBytes = size
		s, err := New("ddp", c)
		if err != nil {
			return nil, err
		}
		t.candidates = append(t.candidates, s)
		t.trials = append(t.trials, Trial{BucketBytes: size, Buckets: len(s.Buckets())})
		t.times = append(t.times, make([]time.Duration, 0, trialRounds))
	}
	t.Strategy = t.candidates[0]
	return t, nil
}

// isTrying reports whether this step is one of those that try sizes, the first of each, which does not
// count, among them.
func (t *tuned) isTrying() bool { return t.step < (1+trialRounds)*len(t.candidates) }

func (t *tuned) Begin(step int) {
	if t.isTrying() {
		t.Strategy = t.candidates[t.step%len(t.candidates)]
		t.began = time.Now()
	}
	t.Strategy.Begin(step)
}

func (t *tuned) Wait() error {
	err := t.Strategy.Wait()
	if err != nil || !t.isTrying() {
		return err
	}
	if at := t.step % len(t.candidates); t.step >= len(t.candidates) {
		t.times[at] = append(t.times[at], time.Since(t.began))
	}
	t.step++
	if t.isTrying() {
		return nil
	}
	return t.choose()
}

// choose ends the trials.
func (t *tuned) choose() error {
	best := 0
	for i, times := range t.times {
		slices.Sort(times)
		t.trials[i].Seconds, t.trials[i].Steps = times[len(times)/2].Seconds(), len(times)
		if t.trials[i].Seconds < t.trials[best].Seconds {
			best = i
		}
	}
	t.verdict[0] = byte(best)
	if err := t.group.Broadcast(t.verdict[:], 0); err != nil {
		return err
	}
	best = int(t.verdict[0])
	if best >= len(t.candidates) {
		return fmt.Errorf("gradsync: rank 0 chose bucket size %d of %d", best, len(t.candidates))
	}
	t.trials[best].IsChosen = true
	t.Strategy = t.candidates[best]
	t.done(t.trials)
	return nil
}
