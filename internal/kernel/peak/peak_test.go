package peak_test

import (
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/peak"
)

// The limits are measured within bounds that no machine of this decade leaves, and quickly.
func TestLimitsAreSane(t *testing.T) {
	for _, isa := range compute.Supported() {
		c := kerneltest.Open(t, isa, 2)
		begin := time.Now()
		if rate := peak.FLOPs(c); rate < 1e8 || rate > 1e14 {
			t.Errorf("%v: peak of %g FLOP/s", isa, rate)
		}
		for _, n := range []int{3, 47, 1 << 20} {
			if rate := peak.Bandwidth(c, make([]float32, n)); rate < 1e6 || rate > 1e14 {
				t.Errorf("%v, %d floats: %g bytes per second", isa, n, rate)
			}
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("%v: measuring took %v", isa, d)
		}
	}
}
