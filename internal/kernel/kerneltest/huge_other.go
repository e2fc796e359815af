//go:build !linux

package kerneltest

import "testing"

// Huge returns n zero floats.
func Huge(_ testing.TB, n int) []float32 { return make([]float32, n) }
