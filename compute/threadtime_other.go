//go:build !linux

package compute

import "time"

// threadTime returns 0: the processor time of a thread is not known.
func threadTime() time.Duration { return 0 }
