//go:build cuda && linux

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Module is compiled code that has been loaded.
type Module struct {
	device *Device
	handle uintptr
}

// LoadModule loads PTX, which the driver compiles for the device, or keeps compiled from an earlier run.
func (d *Device) LoadModule(ptx string) (*Module, error) {
	m := &Module{device: d}
	code := append([]byte(ptx), 0)
	err := d.call("cuModuleLoadData", d.f.moduleLoad, Address(&m.handle), Address(&code[0]))
	runtime.KeepAlive(code)
	return m, err
}

// Close unloads the module. Its kernels must not be launched any more.
func (m *Module) Close() { _ = m.device.call("cuModuleUnload", m.device.f.moduleUnload, m.handle) }

// Kernel is a function of a module.
type Kernel struct {
	device *Device
	name   string
	handle uintptr
}

// Kernel returns the function of that name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	k := &Kernel{device: m.device, name: name}
	c := append([]byte(name), 0)
	err := m.device.call("cuModuleGetFunction", m.device.f.moduleFunction, Address(&k.handle), m.handle,
		Address(&c[0]))
	runtime.KeepAlive(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, name)
	}
	return k, nil
}

// AllowShared lets blocks of the kernel have so many bytes of shared memory besides those it declares.
func (k *Kernel) AllowShared(bytes int) error {
	return k.device.call("cuFuncSetAttribute", k.device.f.functionAttribute, k.handle,
		attributeDynamicShared, uintptr(bytes))
}

// Size counts blocks or threads in three directions; 0 counts as 1.
type Size struct{ X, Y, Z int }

// Launch queues the kernel. params holds the address of each argument; the driver copies the arguments
// before Launch returns.
func (s *Stream) Launch(k *Kernel, blocks, threads Size, sharedBytes int, params []unsafe.Pointer) error {
	var at uintptr
	if len(params) > 0 {
		at = uintptr(unsafe.Pointer(&params[0]))
	}
	n := func(x int) uintptr { return uintptr(max(x, 1)) }
	return s.device.call(k.name, s.device.f.launch, k.handle, n(blocks.X), n(blocks.Y), n(blocks.Z),
		n(threads.X), n(threads.Y), n(threads.Z), uintptr(sharedBytes), s.handle, at, 0)
}
