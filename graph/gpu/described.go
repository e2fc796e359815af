//go:build cuda && linux && amd64

package gpu

// Info describes the GPU.
func (e *Executor) Info() Info {
	d := e.device
	return Info{Name: d.Name, MemoryBytes: d.MemoryBytes, Capability: d.Capability, Processors: d.Processors,
		Driver: d.Driver, Libraries: e.libraryNames()}
}
