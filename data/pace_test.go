package data_test

import (
	"strings"
	"testing"

	"lockstep/data"
)

// A pace is read as it is written.
func TestPacesAreRead(t *testing.T) {
	for _, text := range []string{"", "1.3", "20ms"} {
		if l, err := data.ParsePace(text); err != nil || l.String() != text {
			t.Errorf("%q reads as %v, %v", text, l, err)
		}
	}
	for text, want := range map[string]string{
		"slow": `"slow" is neither a factor nor a time, such as 1.3 or 20ms`,
		"0.5":  "factor 0.5 is out of range",
		"1m":   "a time of 1m0s is out of range, want 0s to 10s",
	} {
		if l, err := data.ParsePace(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, l, err, want)
		}
	}
}
