package spelling_test

import (
	"testing"

	"lockstep/internal/spelling"
)

func TestDecimalUnit(t *testing.T) {
	for bytes, want := range map[float64]string{0: "B", 999: "B", 1000: "kB", 1 << 20: "MB", 5e9: "GB",
		1e18: "TB"} {
		if _, got := spelling.DecimalUnit(bytes); got != want {
			t.Errorf("%g: %s, want %s", bytes, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1.00 KiB",
		3 << 19: "1.50 MiB", 1023 << 10: "1023 KiB", 140 << 30: "140 GiB", 1 << 53: "8192 TiB"} {
		if got := spelling.Size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
