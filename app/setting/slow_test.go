package setting_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/app/setting"
	"lockstep/data"
)

// Slow workers are read as they are written; of two items of one kind the last counts.
func TestSlowWorkers(t *testing.T) {
	const text = "1:3,0:1.5,1:1.25,1:20ms"
	l, err := setting.ParseSlowWorkers(text)
	if err != nil || l.String() != text {
		t.Fatalf("%q reads as %v, %v", text, l, err)
	}
	for rank, want := range []data.Pace{{Factor: 1.5}, {Factor: 1.25, Delay: 20 * time.Millisecond},
		{Factor: 1}} {
		if factor, delay := l.Of(rank); factor != want.Factor || delay != want.Delay {
			t.Errorf("rank %d: %v and %v, want %+v", rank, factor, delay, want)
		}
	}
	if got := l.Below(1).String(); got != "0:1.5" {
		t.Errorf("below 1: %s", got)
	}
}

func TestSlowWorkersAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"1":         "is not RANK:FACTOR",
		"one:2":     "is not RANK:FACTOR",
		"1:3,":      "is not RANK:FACTOR",
		"-1:3":      "is not RANK:FACTOR",
		"1:0.5":     "factor 0.5 is out of range, want 1",
		"1:NaN":     "factor NaN is out of range",
		"1:1000000": "to 1000",
		"1:-2ms":    "a time of -2ms is out of range, want 0s to 10s",
		"1:1h":      "a time of 1h0m0s is out of range",
	} {
		if l, err := setting.ParseSlowWorkers(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, l, err, want)
		}
	}
	c := setting.Default()
	c.Workers, c.SlowWorkers = 2, setting.SlowWorkers{{Rank: 2, Pace: data.Pace{Factor: 3}}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(),
		"slow-worker: there is no worker of rank 2 among 2 workers") {
		t.Errorf("rank 2 of 2: %v", err)
	}
}
