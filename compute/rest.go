//go:build !trust

package compute

import "time"

// rest lets a slowed CPU do nothing for d. The core is left to other processes, as a slower machine would
// leave it.
func rest(d time.Duration) { time.Sleep(d) }
