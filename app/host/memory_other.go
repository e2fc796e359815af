//go:build !linux

package host

import "math"

// memoryLimits knows of no limits here.
func memoryLimits() (limit, left uint64) { return math.MaxUint64, math.MaxUint64 }
