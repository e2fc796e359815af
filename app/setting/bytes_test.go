package setting_test

import (
	"testing"

	"lockstep/app/setting"
)

// Sizes are read in powers of 1024 and of 1000, and written as they always were.
func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]int{"65536": 65536, "12B": 12, "256KiB": 256 << 10, "4MiB": 4 << 20,
		"1GiB": 1 << 30, "214KB": 214_000, "214kB": 214_000, "25MB": 25_000_000, "2GB": 2_000_000_000} {
		if got, err := setting.ParseBytes(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KB", "1.5MB", "4mb", "10000000000GB", "25 MB"} {
		if n, err := setting.ParseBytes(text); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
	for n, want := range map[int]string{25_000_000: "25000000B", 256 << 10: "256KiB", 0: "0"} {
		if got := setting.FormatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
