package gradsync

import (
	"fmt"
	"slices"
	"time"

	"lockstep/comm"
	"lockstep/shard"
)

// Trial is the measurement of "ddp" with one bucket size.
type Trial struct {
	BucketBytes int `json:"bucket_bytes"`
	Buckets     int `json:"buckets"` // buckets of about that size
	// Seconds is rank 0's median over Steps, from the start of forward to the last gradient.
	Seconds  float64 `json:"seconds"`
	Steps    int     `json:"steps"`
	IsChosen bool    `json:"is_chosen"`
}

// Each size is tried in trialRounds steps, in turn, after one step that does not count because it
// sets up the exchange.
const trialRounds = 9

// TrialSizes returns the bucket sizes to try for gradients of that many bytes: powers of four from
// 256 KiB, and a single bucket.
func TrialSizes(bytes int) []int {
	var sizes []int
	for size := 256 << 10; size < bytes; size *= 4 {
		sizes = append(sizes, size)
	}
	return append(sizes, bytes)
}

// tuned is "ddp" that tries bucket sizes in the first steps of a run and then uses the best. Exact
// sums do not depend on the buckets, so these are ordinary steps of training.
type tuned struct {
	Strategy   // the one of this step
	group      *comm.Group
	candidates []Strategy
	trials     []Trial
	times      [][]time.Duration // by trial
	step       int               // since New
	began      time.Time
	done       func([]Trial)
	verdict    [1]byte
}

// NewTuned returns "ddp" that tries the bucket sizes of TrialSizes in turn, ten steps each, calls
// done with the results, and then uses the size with the shortest steps. Rank 0 decides for all. It
// returns an error if c.Wire is lossy or "auto": residuals and rounded sums depend on the buckets.
func NewTuned(c Config, done func([]Trial)) (Strategy, error) {
	if c.Wire.IsAuto() || c.Wire.IsLossy() {
		return nil, fmt.Errorf("gradsync: bucket sizes can be tried only if sums do not depend on them")
	}
	bytes := 0
	for _, s := range c.Segments {
		bytes = max(bytes, 4*(s.Offset+s.Len))
	}
	t := &tuned{group: c.Group, done: done}
	for _, size := range TrialSizes(bytes) {
		c.BucketBytes = size
		s, err := New(DDP, c)
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

// isTrying reports whether this step is a trial, including the first step of each size, which does
// not count.
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

// Replan implements Exchange.
func (t *tuned) Replan(plan shard.Plan, pieces [][]float32) error {
	for _, s := range t.candidates {
		if err := s.Replan(plan, pieces); err != nil {
			return err
		}
	}
	return nil
}

// choose ends the trials and adopts the best size.
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
