package kernel_test

import (
	"testing"
	"time"

	"lockstep/internal/kernel"
)

// Each loop computes what the plain one does, since halving is exact, and touches nothing beside.
func TestPeakLoops(t *testing.T) {
	for _, isa := range kernel.Supported() {
		n := kernel.PeakFloats(isa)
		for _, turns := range []int{1, 2, 7, 100} {
			got := draw(t, n, 3, 1)
			want := clone(t, got)
			kernel.PeakRun(isa, got, turns)
			kernel.PeakRun(kernel.Plain, want, turns)
			sameBits(t, isa.String(), got, want)
		}
	}
}

// The limits are measured within bounds that no machine of this decade leaves, and quickly.
func TestLimitsAreSane(t *testing.T) {
	for _, isa := range kernel.Supported() {
		c := open(t, isa, 2)
		begin := time.Now()
		if peak := c.PeakFLOPs(); peak < 1e8 || peak > 1e14 {
			t.Errorf("%v: peak of %g FLOP/s", isa, peak)
		}
		for _, n := range []int{3, 47, 1 << 20} {
			if rate := c.Bandwidth(make([]float32, n)); rate < 1e6 || rate > 1e14 {
				t.Errorf("%v, %d floats: %g bytes per second", isa, n, rate)
			}
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("%v: measuring took %v", isa, d)
		}
	}
}
