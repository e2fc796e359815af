package spelling_test

import (
	"strings"
	"testing"

	"lockstep/internal/spelling"
)

// A word that may be a path stays, a longer one is cut.
func TestBrief(t *testing.T) {
	path, long := strings.Repeat("p", 4096), strings.Repeat("ä", 100_000)
	text := "open " + path + ": no such file; open " + long + ": name too long"
	want := "open " + path + ": no such file; open " + strings.Repeat("ä", 80) + "… name too long"
	if got := spelling.Brief(text); got != want {
		t.Errorf("got %.200q of %d bytes", got, len(got))
	}
}
