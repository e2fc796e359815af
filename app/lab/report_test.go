package lab

import (
	"strings"
	"testing"
)

// Packets that are lost without --loss or --cut are explained, others are not.
func TestLostPacketsAreExplained(t *testing.T) {
	for _, test := range []struct {
		config Config
		lost   uint64
		want   bool
	}{
		{Config{Hosts: 2, Link: Link{Rate: 1e7}}, 8, true},
		{Config{Hosts: 2, Link: Link{Rate: 1e7}}, 0, false},
		{Config{Hosts: 2, Links: map[int]Link{1: {Loss: 0.1}}}, 8, false},
		{Config{Hosts: 2, Cuts: []Cut{{Host: 1, To: 1}}}, 8, false},
	} {
		r := Report{Seconds: 1, isLossy: test.config.isLossy(),
			Hosts: []HostReport{{Counts: Counts{Lost: test.lost}}}}
		var text strings.Builder
		if err := r.Text(&text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "queue of a link full"); got != test.want {
			t.Errorf("%+v, %d lost: explained %v, want %v", test.config, test.lost, got, test.want)
		}
	}
}
