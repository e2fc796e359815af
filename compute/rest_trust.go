//go:build trust

package compute

import "time"

// rest lets a slowed CPU do nothing for d without leaving its core, so that what a test plants does not
// depend on how a core goes on after a sleep. It is still a share of the time of the calls, not of a step
// (results/verdicts).
func rest(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}
