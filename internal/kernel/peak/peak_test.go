package peak_test

import (
	"errors"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/peak"
)

// Products of parts have a limit of their own, which is measured wherever there are some.
func TestProductsAreSane(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, m := range []compute.Math{compute.BF16, compute.BF16x3} {
			c, err := compute.Open(compute.Config{ISA: isa, Threads: 2, Math: m})
			if errors.Is(err, compute.ErrNoMatrixUnit) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if rate := peak.Products(c); rate < 1e6 || rate > 1e15 {
				t.Errorf("%v, %v: %g FLOP/s", isa, m, rate)
			}
		}
	}
}

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
		if d := time.Since(begin); d > time.Minute {
			t.Errorf("%v: measuring took %v", isa, d)
		}
	}
}
