//go:build !linux

package kerneltest

// Floats returns n zero floats between sentinels, which are checked when the test ends.
func Floats(t TB, n int) []float32 {
	t.Helper()
	all := make([]float32, n+2*sentinels)
	t.Cleanup(fence(t, all[n+sentinels:]))
	t.Cleanup(fence(t, all[:sentinels]))
	return all[sentinels : sentinels+n : sentinels+n]
}
