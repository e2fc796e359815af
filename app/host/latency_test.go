package host

import (
	"testing"
	"time"
)

// A cache line takes longer than an access to the own cache and far less than a thread takes to wake.
func TestCoreLatency(t *testing.T) {
	if Cores() < 2 {
		if got := CoreLatency(); got != 0 {
			t.Errorf("%v with one core", got)
		}
		return
	}
	for range 20 { // the cores may be too busy at first
		if got := CoreLatency(); got > 0 {
			if got < 5*time.Nanosecond || got > 5*time.Microsecond {
				t.Errorf("%v", got)
			}
			return
		}
	}
	t.Skip("the cores are busy")
}

// A core that nobody answers from does not hold up the measurement.
func TestTripEnds(t *testing.T) {
	var line cacheLine
	begin := time.Now()
	if got := line.fastest(); got != 0 {
		t.Errorf("%v without another thread", got)
	}
	if took := time.Since(begin); took > 100*latencyLimit {
		t.Errorf("took %v", took)
	}
}
