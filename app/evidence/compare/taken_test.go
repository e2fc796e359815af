package compare

import (
	"testing"

	"lockstep/app/record"
)

// What nobody took is not told.
func TestTakenText(t *testing.T) {
	for _, c := range []struct {
		taken *record.Taken
		want  string
	}{
		{nil, ""},
		{&record.Taken{Stolen: 0.01, Others: 0.01}, ""},
		{&record.Taken{Stolen: 0.0004, Others: 0.08}, "8.0 % of the cores' time went to other processes"},
		{&record.Taken{Stolen: 0.05, Others: 0.12},
			"5.0 % of the cores' time went to other virtual machines, 12 % to other processes"},
	} {
		if got := TakenText(c.taken); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.taken, got, c.want)
		}
	}
}
