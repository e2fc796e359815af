//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/internal/cuda/blas"
	"lockstep/internal/cuda/dnn"
)

// libraries are cuBLASLt and cuDNN.
type libraries struct {
	blas      *blas.Library
	dnn       *dnn.Library
	plans     []interface{ Close() }
	methods   []string
	preferred []string // by tests: names of methods
}

// openLibraries loads the libraries and allocates their workspaces.
func (e *Executor) openLibraries() (err error) {
	if e.blas, err = blas.Open(e.device); err != nil {
		return err
	}
	if e.dnn, err = dnn.Open(e.device); err != nil {
		return err
	}
	if err = e.reserve(blasWorkspaceBytes); err != nil {
		return err
	}
	e.swap()
	defer e.swap()
	return e.reserve(blasWorkspaceBytes)
}

// closeLibraries frees all plans and what openLibraries has opened.
func (e *Executor) closeLibraries() {
	for _, p := range e.plans {
		p.Close()
	}
	e.plans = nil
	if e.dnn != nil {
		e.dnn.Close()
	}
	if e.blas != nil {
		e.blas.Close()
	}
	e.blas, e.dnn = nil, nil
}

// libraryNames lists the libraries that are open, with their versions.
func (e *Executor) libraryNames() []string {
	var names []string
	if e.blas != nil {
		names = append(names, "cuBLASLt "+e.blas.Version())
	}
	if e.dnn != nil {
		names = append(names, "cuDNN "+e.dnn.Version())
	}
	return names
}

// roundsTF32 reports whether products of float32 may round their factors.
func (e *Executor) roundsTF32() bool { return e.config.Math != Float32 }
