package compare_test

import (
	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"math"
	"slices"
	"strings"
	"testing"
)

// Each row has one serial fraction, with that of the interval of its speed-up.
func TestSerialFractionHasAnInterval(t *testing.T) {
	m := newMaker(6, 8)
	m.add(record.Setting{Strategy: "single", Workers: 1}, slices.Repeat([]float64{1}, 6)...)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.59, 0.6, 0.61, 0.59, 0.6, 0.61)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, slices.Repeat([]float64{0.325}, 6)...)
	text := note(compare.Compare(m.Results), "serial fraction")
	for _, want := range []string{"ddp 2×1 20 % (17 % to 23 %)", "ddp 4×1 10 % (10 % to 10 %)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// The report of two devices: 2,469.67 s on one and 1,224 s on two at 1.50 dollars an hour.
func TestCost(t *testing.T) {
	near(t, "one device", compare.Cost(2469.67, 1, 1.5), 1.03, 0.005)
	near(t, "two devices", compare.Cost(1224, 2, 1.5), 1.02, 0.005)
	near(t, "device-minutes", compare.DeviceMinutes(1224, 2), 40.8, 1e-9)
	for _, p := range compare.Prices() {
		if p.Devices < 1 || p.Hour <= 0 || len(p.Date) < 7 || p.Source == "" || p.Device() > p.Hour {
			t.Errorf("price %+v lacks a part", p)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}
