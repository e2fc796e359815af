package spelling_test

import (
	"testing"

	"lockstep/internal/spelling"
)

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1.00 KiB",
		3 << 19: "1.50 MiB", 1023 << 10: "1023 KiB", 140 << 30: "140 GiB", 1 << 53: "8192 TiB"} {
		if got := spelling.Size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
