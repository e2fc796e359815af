//go:build !linux || !amd64 || purego

package compute

// matrixUnit reports that this process may not use a matrix unit.
func matrixUnit() bool { return false }
