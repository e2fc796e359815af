package host

import (
	"testing"
	"time"

	"lockstep/app/record"
)

// The system's figures of a busy tenth of a second, where it has them: this process took some of the time.
func TestCoresNow(t *testing.T) {
	start := CoresNow()
	if start == (record.CoreTimes{}) {
		t.Skip("the system does not tell")
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
	}
	got := CoresSince(start)
	if got.All < 0.2 || got.Own <= 0 || got.Own > got.All || got.Busy+got.Stolen > got.All+1e-6 {
		t.Errorf("%+v after 300 ms of work", got)
	}
}
