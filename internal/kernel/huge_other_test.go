//go:build !linux

package kernel_test

import "testing"

// huge returns n zero floats.
func huge(_ testing.TB, n int) []float32 { return make([]float32, n) }
