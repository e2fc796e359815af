//go:build cuda && linux

package blas

import (
	"errors"
	"fmt"

	"lockstep/internal/cuda"
)

// ErrUnsupported says that the library has no algorithm for a product.
var ErrUnsupported = errors.New("blas: cuBLASLt has no algorithm for this product")

// functions are those of cuBLASLt, in the order of names.
type functions struct {
	create, destroy, version, productCreate, productDestroy, productSet, layoutCreate, layoutDestroy,
	layoutSet, limitsCreate, limitsDestroy, limitsSet, heuristic, run cuda.Func
}

// names pairs the functions with what the library calls them.
func (f *functions) names() map[string]*cuda.Func {
	return map[string]*cuda.Func{
		"cublasLtCreate": &f.create, "cublasLtDestroy": &f.destroy, "cublasLtGetVersion": &f.version,
		"cublasLtMatmulDescCreate": &f.productCreate, "cublasLtMatmulDescDestroy": &f.productDestroy,
		"cublasLtMatmulDescSetAttribute": &f.productSet, "cublasLtMatrixLayoutCreate": &f.layoutCreate,
		"cublasLtMatrixLayoutDestroy": &f.layoutDestroy, "cublasLtMatrixLayoutSetAttribute": &f.layoutSet,
		"cublasLtMatmulPreferenceCreate":       &f.limitsCreate,
		"cublasLtMatmulPreferenceDestroy":      &f.limitsDestroy,
		"cublasLtMatmulPreferenceSetAttribute": &f.limitsSet,
		"cublasLtMatmulAlgoGetHeuristic":       &f.heuristic,
		"cublasLtMatmul":                       &f.run,
	}
}

// Library is cuBLASLt, opened on one device.
type Library struct {
	f      functions
	device *cuda.Device
	path   string
	handle uintptr
}

// Open loads cuBLASLt and makes it ready for the device.
func Open(d *cuda.Device) (*Library, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	l.device = d
	var status int32
	d.Do(func() { status = l.f.create.Call(cuda.Address(&l.handle)) })
	if err := check("cublasLtCreate", status); err != nil {
		return nil, fmt.Errorf("%w, in %s", err, l.path)
	}
	return l, nil
}

// load finds the library and its functions.
func load() (*Library, error) {
	l := &Library{}
	shared, err := cuda.Bind(l.f.names(), "libcublasLt.so.13", "libcublasLt.so.12")
	if err != nil {
		return nil, err
	}
	l.path = shared.Path
	return l, nil
}

// Version returns the library's version, such as "13.0.2".
func (l *Library) Version() string { return cuda.Version(l.f.version.Call()) }

// Path returns the file that the library was loaded from.
func (l *Library) Path() string { return l.path }

// Close frees what the library holds on the device. Its plans are to be closed before.
func (l *Library) Close() {
	l.device.Do(func() { l.f.destroy.Call(l.handle) })
	l.handle = 0
}

// check returns the error of a status other than 0.
func check(function string, status int32) error {
	if status == 0 {
		return nil
	}
	said, ok := statuses[status]
	if !ok {
		said = "unknown status"
	}
	return fmt.Errorf("blas: %s: %s (status %d)", function, said, status)
}

// statuses are the values of cublasStatus_t.
var statuses = map[int32]string{
	1: "not initialized", 3: "allocation failed", statusInvalid: "invalid value",
	8: "architecture mismatch", 11: "mapping error", 13: "execution failed", 14: "internal error",
	statusUnsupported: "not supported", 16: "license error",
}

const (
	statusInvalid     = 7
	statusUnsupported = 15
)
