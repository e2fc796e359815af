//go:build cuda && linux && amd64

package gpu

import "lockstep/internal/cuda"

// Count returns the number of GPUs that the driver has, 0 without a driver.
func Count() int {
	n, err := cuda.Count()
	if err != nil {
		return 0
	}
	return n
}

// Info describes the GPU.
func (e *Executor) Info() Info {
	d := e.device
	return Info{Name: d.Name, Bus: d.Bus, MemoryBytes: d.MemoryBytes, Capability: d.Capability,
		Processors: d.Processors, Driver: d.Driver, Libraries: e.libraryNames()}
}
