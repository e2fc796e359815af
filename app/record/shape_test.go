package record_test

import (
	"testing"

	"lockstep/app/record"
)

// Hosts × workers and workers × threads are never written alike.
func TestShapes(t *testing.T) {
	for want, s := range map[string]record.Setting{
		"2×1":                              {Workers: 2, Threads: 1},
		"2 hosts × 1 worker":               {Workers: 2, Threads: 1, Hosts: 2, PerHost: 1},
		"1 host × 2 workers":               {Workers: 2, Threads: 1, Hosts: 1, PerHost: 2},
		"3 hosts × 2 workers × 4 threads":  {Workers: 6, Threads: 4, Hosts: 3, PerHost: 2},
		"3 workers on 2 hosts × 2 threads": {Workers: 3, Threads: 2, Hosts: 2},
	} {
		if got := s.Shape(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}
