//go:build cuda && linux

package cuda

import (
	"runtime"
	"unsafe"
)

// Stream is a queue of work on a device, done in order. Its methods return as soon as the work is in the
// queue, except Wait.
type Stream struct {
	device *Device
	handle uintptr
}

// Priority says whose blocks a device starts first, where several queues have some: those of the queue with
// the larger one.
type Priority int

// The priorities of queues.
const (
	Low  Priority = 0
	High Priority = 1
)

// NewStream returns an empty queue.
func (d *Device) NewStream(p Priority) (*Stream, error) {
	s := &Stream{device: d}
	const nonBlocking = 1
	return s, d.call("cuStreamCreateWithPriority", d.f.streamCreate, Address(&s.handle), nonBlocking,
		uintptr(-p)) // the driver counts downwards from 0
}

// Handle returns the driver's handle, which other libraries take.
func (s *Stream) Handle() uintptr { return s.handle }

// Device returns the device of the queue.
func (s *Stream) Device() *Device { return s.device }

// Close frees the queue when its work is done.
func (s *Stream) Close() { _ = s.device.call("cuStreamDestroy", s.device.f.streamDestroy, s.handle) }

// Wait blocks until all work is done, and returns the error of a kernel that failed.
func (s *Stream) Wait() error {
	return s.device.call("cuStreamSynchronize", s.device.f.streamWait, s.handle)
}

// ToDevice copies bytes from host memory, which must stay as it is until the copy is done.
func (s *Stream) ToDevice(dst Pointer, src unsafe.Pointer, bytes int) error {
	return s.device.call("cuMemcpyHtoDAsync", s.device.f.toDevice, uintptr(dst), uintptr(src),
		uintptr(bytes), s.handle)
}

// ToHost copies bytes to host memory, where they are after Wait.
func (s *Stream) ToHost(dst unsafe.Pointer, src Pointer, bytes int) error {
	return s.device.call("cuMemcpyDtoHAsync", s.device.f.toHost, uintptr(dst), uintptr(src),
		uintptr(bytes), s.handle)
}

// Copy copies bytes within the device's memory.
func (s *Stream) Copy(dst, src Pointer, bytes int) error {
	return s.device.call("cuMemcpyDtoDAsync", s.device.f.within, uintptr(dst), uintptr(src),
		uintptr(bytes), s.handle)
}

// Fill sets n words of 4 bytes to value.
func (s *Stream) Fill(dst Pointer, value uint32, n int) error {
	return s.device.call("cuMemsetD32Async", s.device.f.fill, uintptr(dst), uintptr(value), uintptr(n),
		s.handle)
}

// WaitFor makes the queue wait for e before what is queued next.
func (s *Stream) WaitFor(e *Event) error {
	return s.device.call("cuStreamWaitEvent", s.device.f.streamWaitEvent, s.handle, e.handle, 0)
}

// Event is a point in a queue.
type Event struct {
	device *Device
	handle uintptr
}

// Timing says whether an event notes when the device reaches it. [Event.MillisecondsSince] takes timed ones;
// untimed ones cost less.
type Timing uintptr

// The flags of cuEventCreate.
const (
	Timed   Timing = 0
	Untimed Timing = 2
)

// NewEvent returns an event that has not been recorded.
func (d *Device) NewEvent(t Timing) (*Event, error) {
	e := &Event{device: d}
	return e, d.call("cuEventCreate", d.f.eventCreate, Address(&e.handle), uintptr(t))
}

// Close frees the event.
func (e *Event) Close() { _ = e.device.call("cuEventDestroy", e.device.f.eventDestroy, e.handle) }

// Record puts e behind the work that is in the queue.
func (s *Stream) Record(e *Event) error {
	return s.device.call("cuEventRecord", s.device.f.eventRecord, e.handle, s.handle)
}

// IsDone reports whether the work in front of e is done.
func (e *Event) IsDone() (bool, error) {
	const notReady = 600
	runtime.LockOSThread()
	e.device.f.setCurrent.Call(e.device.context)
	status := e.device.f.eventQuery.Call(e.handle)
	runtime.UnlockOSThread()
	if status == notReady {
		return false, nil
	}
	return status == 0, e.device.check("cuEventQuery", status)
}

// Wait blocks until the work in front of e is done.
func (e *Event) Wait() error {
	return e.device.call("cuEventSynchronize", e.device.f.eventWait, e.handle)
}

// MillisecondsSince returns the time from an earlier event to e; both must be timed and done.
func (e *Event) MillisecondsSince(earlier *Event) (float64, error) {
	var ms float32
	err := e.device.call("cuEventElapsedTime", e.device.f.eventElapsed, Address(&ms), earlier.handle,
		e.handle)
	return float64(ms), err
}

// Recording is work of a stream that is started as a whole.
type Recording struct {
	device      *Device
	graph, exec uintptr
}

// Capture puts what f queues into a recording instead of the stream, as a graph of the driver.
func (s *Stream) Capture(f func() error) (*Recording, error) {
	d := s.device
	const relaxed = 2
	if err := d.call("cuStreamBeginCapture", d.f.beginCapture, s.handle, relaxed); err != nil {
		return nil, err
	}
	failed := f()
	r := &Recording{device: d}
	if err := d.call("cuStreamEndCapture", d.f.endCapture, s.handle, Address(&r.graph)); err != nil {
		return nil, err
	}
	if failed != nil {
		r.Close()
		return nil, failed
	}
	if err := d.call("cuGraphInstantiate", d.f.instantiate, Address(&r.exec), r.graph, 0); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Replay queues the recorded work.
func (s *Stream) Replay(r *Recording) error {
	return s.device.call("cuGraphLaunch", s.device.f.graphLaunch, r.exec, s.handle)
}

// Close frees the recording.
func (r *Recording) Close() {
	if r.exec != 0 {
		_ = r.device.call("cuGraphExecDestroy", r.device.f.execDestroy, r.exec)
	}
	if r.graph != 0 {
		_ = r.device.call("cuGraphDestroy", r.device.f.graphDestroy, r.graph)
	}
	r.exec, r.graph = 0, 0
}
