package setting_test

import (
	"testing"

	"lockstep/app/setting"
)

// Sizes are read in powers of 1024 and of 1000.
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
}
