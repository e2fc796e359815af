//go:build cuda && linux

package dnn

import (
	"errors"
	"fmt"
	"strings"

	"lockstep/internal/cuda"
)

// ErrUnsupported says that cuDNN has no engine for a pass of a convolution within its limits.
var ErrUnsupported = errors.New("dnn: cuDNN has no engine for this convolution")

// functions are those of cuDNN, in the order of names.
type functions struct {
	create, destroy, version, lastError, setStream, makeDescriptor, freeDescriptor, finalize, set, get,
	execute cuda.Func
}

// names pairs the functions with what the library calls them.
func (f *functions) names() map[string]*cuda.Func {
	return map[string]*cuda.Func{
		"cudnnCreate": &f.create, "cudnnDestroy": &f.destroy, "cudnnGetVersion": &f.version,
		"cudnnGetLastErrorString": &f.lastError, "cudnnSetStream": &f.setStream,
		"cudnnBackendCreateDescriptor":  &f.makeDescriptor,
		"cudnnBackendDestroyDescriptor": &f.freeDescriptor, "cudnnBackendFinalize": &f.finalize,
		"cudnnBackendSetAttribute": &f.set, "cudnnBackendGetAttribute": &f.get,
		"cudnnBackendExecute": &f.execute,
	}
}

// Library is cuDNN, opened on one device.
type Library struct {
	f      functions
	device *cuda.Device
	path   string
	handle uintptr
	stream uintptr
}

// Open loads cuDNN and makes it ready for the device.
func Open(d *cuda.Device) (*Library, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	l.device = d
	d.Do(func() { err = l.check("cudnnCreate", l.f.create.Call(cuda.Address(&l.handle))) })
	if err != nil {
		return nil, fmt.Errorf("%w, in %s", err, l.path)
	}
	return l, nil
}

// load finds the library and its functions.
func load() (*Library, error) {
	l := &Library{}
	shared, err := cuda.Bind(l.f.names(), "libcudnn.so.9")
	if err != nil {
		return nil, err
	}
	l.path = shared.Path
	return l, nil
}

// Version returns the library's version, such as "9.13.0".
func (l *Library) Version() string { return cuda.Version(l.f.version.Call()) }

// Path returns the file that the library was loaded from.
func (l *Library) Path() string { return l.path }

// Close frees what the library holds on the device, after waiting for its work. Its plans are to be closed
// before.
func (l *Library) Close() {
	l.device.Do(func() { l.f.destroy.Call(l.handle) })
	l.handle = 0
}

// check returns the error of a status other than 0, with what the library says.
func (l *Library) check(function string, status int32) error {
	if status == 0 {
		return nil
	}
	said := make([]byte, 1024)
	l.f.lastError.Call(cuda.Address(&said[0]), uintptr(len(said)))
	text, _, _ := strings.Cut(string(said), "\x00")
	return fmt.Errorf("dnn: %s: status %d: %s", function, status, strings.TrimSpace(text))
}

// use makes the library queue its work in s.
func (l *Library) use(s *cuda.Stream) error {
	if l.stream == s.Handle() {
		return nil
	}
	if status := l.f.setStream.Call(l.handle, s.Handle()); status != 0 {
		return l.check("cudnnSetStream", status)
	}
	l.stream = s.Handle()
	return nil
}
