//go:build !linux

package host

import "math"

// TaskRoom is not known here.
func TaskRoom() (room int, limit string) { return math.MaxInt, "" }
