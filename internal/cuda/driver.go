//go:build cuda && linux

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"
)

// functions are those of the driver, in the order of names.
type functions struct {
	init, driverVersion, deviceCount, deviceGet, deviceName, deviceAttribute, deviceMemory, deviceBus Func
	retain, release, setCurrent, errorString, memory                                                  Func
	alloc, free, allocHost, freeHost, register, unregister, toDevice, toHost, within, fill            Func
	streamCreate, streamDestroy, streamWait, streamWaitEvent                                          Func
	eventCreate, eventDestroy, eventRecord, eventQuery, eventWait, eventElapsed                       Func
	beginCapture, endCapture, instantiate, graphLaunch, graphDestroy, execDestroy                     Func
	moduleLoad, moduleUnload, moduleFunction, functionAttribute, launch                               Func
}

// names pairs the functions with what the driver calls them.
func (f *functions) names() map[string]*Func {
	return map[string]*Func{
		"cuInit": &f.init, "cuDriverGetVersion": &f.driverVersion, "cuDeviceGetCount": &f.deviceCount,
		"cuDeviceGet": &f.deviceGet, "cuDeviceGetName": &f.deviceName,
		"cuDeviceGetAttribute": &f.deviceAttribute, "cuDeviceTotalMem_v2": &f.deviceMemory,
		"cuDeviceGetPCIBusId":      &f.deviceBus,
		"cuDevicePrimaryCtxRetain": &f.retain, "cuDevicePrimaryCtxRelease_v2": &f.release,
		"cuCtxSetCurrent": &f.setCurrent, "cuGetErrorString": &f.errorString,
		"cuMemGetInfo_v2": &f.memory, "cuMemAlloc_v2": &f.alloc, "cuMemFree_v2": &f.free,
		"cuMemHostAlloc": &f.allocHost, "cuMemFreeHost": &f.freeHost,
		"cuMemHostRegister_v2": &f.register, "cuMemHostUnregister": &f.unregister,
		"cuMemcpyHtoDAsync_v2": &f.toDevice, "cuMemcpyDtoHAsync_v2": &f.toHost,
		"cuMemcpyDtoDAsync_v2": &f.within, "cuMemsetD32Async": &f.fill,
		"cuStreamCreateWithPriority": &f.streamCreate, "cuStreamDestroy_v2": &f.streamDestroy,
		"cuStreamSynchronize": &f.streamWait, "cuStreamWaitEvent": &f.streamWaitEvent,
		"cuEventCreate": &f.eventCreate, "cuEventDestroy_v2": &f.eventDestroy,
		"cuEventRecord": &f.eventRecord, "cuEventSynchronize": &f.eventWait,
		"cuEventQuery":       &f.eventQuery,
		"cuEventElapsedTime": &f.eventElapsed, "cuStreamBeginCapture_v2": &f.beginCapture,
		"cuStreamEndCapture": &f.endCapture, "cuGraphInstantiateWithFlags": &f.instantiate,
		"cuGraphLaunch": &f.graphLaunch, "cuGraphDestroy": &f.graphDestroy,
		"cuGraphExecDestroy": &f.execDestroy, "cuModuleLoadData": &f.moduleLoad,
		"cuModuleUnload": &f.moduleUnload, "cuModuleGetFunction": &f.moduleFunction,
		"cuFuncSetAttribute": &f.functionAttribute, "cuLaunchKernel": &f.launch,
	}
}

// Device is one GPU with its primary context.
type Device struct {
	// Name is what the driver calls it, such as "NVIDIA H100 80GB HBM3".
	Name string
	// Capability is its compute capability, 90 for 9.0.
	Capability int
	// Processors is the number of its multiprocessors, and CacheBytes the size of its L2 cache.
	Processors, CacheBytes int
	// MemoryBytes is the size of its memory.
	MemoryBytes int64
	// Bus is the device's place on the host's bus, such as "0000:3b:00.0", whatever number a process sees.
	Bus string
	// Driver is the newest version of CUDA that the driver supports, 13000 for 13.0.
	Driver int

	f       functions
	number  int32
	context uintptr
}

// Attributes of devices and functions, from cuda.h.
const (
	attributeProcessors    = 16
	attributeCacheBytes    = 38
	attributeMajor         = 75
	attributeMinor         = 76
	attributeDynamicShared = 8
)

// Count loads the driver and returns how many devices it has.
func Count() (int, error) {
	d, err := load()
	if err != nil {
		return 0, err
	}
	return d.count()
}

// load loads the driver, for a device that is still to be found.
func load() (*Device, error) {
	d := &Device{}
	if _, err := Bind(d.f.names(), "libcuda.so.1"); err != nil {
		return nil, err
	}
	return d, d.check("cuInit", d.f.init.Call(0))
}

// count asks the driver for the number of devices.
func (d *Device) count() (int, error) {
	var n int32
	err := d.check("cuDeviceGetCount", d.f.deviceCount.Call(Address(&n)))
	return int(n), err
}

// Open loads the driver and opens device number n. The error says what is missing.
func Open(n int) (*Device, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d, err := load()
	if err != nil {
		return nil, err
	}
	if err := d.find(n); err != nil {
		return nil, err
	}
	err = d.check("cuDevicePrimaryCtxRetain", d.f.retain.Call(Address(&d.context), uintptr(d.number)))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// find asks the driver for device number n.
func (d *Device) find(n int) error {
	count, err := d.count()
	if err != nil {
		return err
	}
	if n < 0 || n >= count {
		return fmt.Errorf("cuda: no GPU %d: the driver has %d, counted from 0", n, count)
	}
	if err := d.check("cuDeviceGet", d.f.deviceGet.Call(Address(&d.number), uintptr(n))); err != nil {
		return err
	}
	var name [256]byte
	var bytes uint64
	var version int32
	number := uintptr(d.number)
	if err := d.check("cuDeviceGetName", d.f.deviceName.Call(Address(&name), 256, number)); err != nil {
		return err
	}
	if err := d.check("cuDeviceTotalMem", d.f.deviceMemory.Call(Address(&bytes), number)); err != nil {
		return err
	}
	if err := d.check("cuDriverGetVersion", d.f.driverVersion.Call(Address(&version))); err != nil {
		return err
	}
	var bus [32]byte
	if d.f.deviceBus.Call(Address(&bus), uintptr(len(bus)), number) == 0 { // else it is not known
		d.Bus = text(bus[:])
	}
	d.Name, d.MemoryBytes, d.Driver = text(name[:]), int64(bytes), int(version)
	d.Capability = 10*d.attribute(attributeMajor) + d.attribute(attributeMinor)
	d.Processors, d.CacheBytes = d.attribute(attributeProcessors), d.attribute(attributeCacheBytes)
	return nil
}

// attribute returns an attribute of the device, 0 if the driver does not know it.
func (d *Device) attribute(number uintptr) int {
	var value int32
	d.f.deviceAttribute.Call(Address(&value), number, uintptr(d.number))
	return int(value)
}

// text returns the C string in b.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Address returns the address of x for a C function, valid while x is alive.
func Address[T any](x *T) uintptr {
	heap.keep(x)
	return uintptr(unsafe.Pointer(x))
}

// heap makes what it is given lie on the heap, since a stack moves when it grows: the compiler cannot know
// that it keeps nothing.
var heap = &keeper{}

type keeper struct {
	isOn bool // never
	last any
}

func (k *keeper) keep(x any) {
	if k.isOn {
		k.last = x
	}
}

// check returns the error of a status other than 0.
func (d *Device) check(function string, status int32) error {
	if status == 0 {
		return nil
	}
	var what uintptr
	d.f.errorString.Call(uintptr(status), Address(&what))
	said := "unknown error"
	if what != 0 {
		said = text(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&what))), 256))
	}
	return fmt.Errorf("cuda: %s: %s (status %d)", function, said, status)
}

// Do calls f with the device's context current on the calling thread.
func (d *Device) Do(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d.f.setCurrent.Call(d.context)
	f()
}

// call calls a function of the driver in the device's context.
func (d *Device) call(name string, f Func, args ...uintptr) error {
	runtime.LockOSThread()
	d.f.setCurrent.Call(d.context)
	status := f.Call(args...)
	runtime.UnlockOSThread()
	if status != 0 {
		return d.check(name, status)
	}
	return nil
}

// Close releases the context. Everything made on the device becomes invalid.
func (d *Device) Close() { d.f.release.Call(uintptr(d.number)) }

// Memory returns how many bytes of the device's memory are free, and how many there are.
func (d *Device) Memory() (free, total int64, err error) {
	var f, t uint64
	err = d.call("cuMemGetInfo", d.f.memory, Address(&f), Address(&t))
	return int64(f), int64(t), err
}

// Pointer is an address in a device's memory.
type Pointer uintptr

// Alloc returns bytes of device memory, which is not cleared.
func (d *Device) Alloc(bytes int) (Pointer, error) {
	var p Pointer
	if err := d.call("cuMemAlloc", d.f.alloc, Address(&p), uintptr(bytes)); err != nil {
		return 0, fmt.Errorf("%w, for %d bytes", err, bytes)
	}
	return p, nil
}

// Free frees what Alloc has returned, when all work on the device is done.
func (d *Device) Free(p Pointer) { _ = d.call("cuMemFree", d.f.free, uintptr(p)) }

// AllocHost returns bytes of host memory that the device copies from and to without a detour. It is outside
// of Go's heap: FreeHost frees it.
func (d *Device) AllocHost(bytes int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	const mapped = 2
	if err := d.call("cuMemHostAlloc", d.f.allocHost, Address(&p), uintptr(bytes), mapped); err != nil {
		return nil, fmt.Errorf("%w, for %d bytes", err, bytes)
	}
	return p, nil
}

// FreeHost frees what AllocHost has returned.
func (d *Device) FreeHost(p unsafe.Pointer) { _ = d.call("cuMemFreeHost", d.f.freeHost, uintptr(p)) }

// Register lets the device copy from and to memory of the program's own without a detour. The memory must not
// be freed or moved before Unregister.
func (d *Device) Register(memory []byte) error {
	return d.call("cuMemHostRegister", d.f.register, uintptr(unsafe.Pointer(&memory[0])),
		uintptr(len(memory)), 0)
}

// Unregister ends what Register has begun.
func (d *Device) Unregister(memory []byte) {
	_ = d.call("cuMemHostUnregister", d.f.unregister, uintptr(unsafe.Pointer(&memory[0])))
}
