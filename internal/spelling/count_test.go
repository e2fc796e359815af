package spelling_test

import (
	"testing"

	"lockstep/internal/spelling"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 2: "2 runs"} {
		if got := spelling.Count(n, "run"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
