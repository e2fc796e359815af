package roofline

import (
	"testing"
	"time"
)

// A sample calls a kernel for about a millisecond, however long one call takes.
func TestSampleTakesAboutAMillisecond(t *testing.T) {
	const repeats, each = 3, 30 * time.Microsecond
	r := &run{config: Config{Repeats: repeats}}
	calls := 0
	samples := r.sample(func() {
		calls++
		for begin := time.Now(); time.Since(begin) < each; {
		}
	})
	// Twice as many as fit into a millisecond per sample, and as many again to find that out.
	if most := (repeats + 2) * 2 * int(sampleTime/each); len(samples) != repeats || calls > most {
		t.Errorf("%d samples of %d calls, want %d of %d at most", len(samples), calls, repeats, most)
	}
	for _, s := range samples {
		if s < each.Seconds() {
			t.Errorf("%v seconds a call, want %v at least", s, each.Seconds())
		}
	}
}
