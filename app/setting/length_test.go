package setting

import (
	"testing"
	"time"
)

func TestParseInterval(t *testing.T) {
	for text, want := range map[string]Interval{
		"": {}, "100": {Steps: 100}, "5m": {Time: 5 * time.Minute}, "1h30m": {Time: 90 * time.Minute},
	} {
		if got, err := parseInterval(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "x", "0s", "-5m", "1.5"} {
		if got, err := parseInterval(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
