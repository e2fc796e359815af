//go:build trust

package compute

import "time"

// rest lets a slowed CPU do nothing for d, without leaving its core: one that sleeps raises or lowers its
// frequency, so that a difference of 5 % that a test plants would be another. On an Intel Xeon (model 207)
// a duty cycle of 1.05 made steps 2.6 % longer, of 1.1 6 %, of 1.5 54 %.
func rest(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}
