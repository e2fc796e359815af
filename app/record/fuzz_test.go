package record_test

import (
	"testing"

	"lockstep/app/record"
)

// FuzzVariables reads the variables by which a launcher says what hosts it found and what restarts have cost.
func FuzzVariables(f *testing.F) {
	f.Add(`{"hosts":[{"host":"a","slots":2},{"host":"b"}],"routes":[{"from":0,"to":1}]}`)
	f.Add(`{"routes":[{"from":-1}]}`)
	f.Add(`[{"cause":"lost","step":3}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if hosts, err := record.ParseHosts(text); err == nil && hosts.Validate() != nil {
			t.Errorf("%q is taken, and not valid", text)
		}
		if restarts, err := record.ParseRestarts(text); err == nil && len(restarts) > len(text) {
			t.Errorf("%d restarts in %q", len(restarts), text)
		}
	})
}
