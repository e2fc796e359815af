//go:build cuda && linux && amd64

package gpu

import (
	"fmt"
	"slices"

	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
	"lockstep/internal/cuda/dnn"
)

// Memory that products of the libraries may use while they run. All share it: they run one after another.
// cuBLASLt asks for up to 32 MiB on large GPUs, which it always has. cuDNN's gradients of filters take more
// where the sums are split, and its engines without tensor cores want room for copies of the maps.
const (
	blasWorkspaceBytes = 32 << 20
	maxWorkspaceBytes  = 1 << 30
)

// libraries are cuBLASLt and cuDNN.
type libraries struct {
	blas      *blas.Library
	dnn       *dnn.Library
	workspace cuda.Pointer
	// workspaceBytes is its size. outgrown are earlier ones, which recordings may still refer to.
	workspaceBytes int
	outgrown       []cuda.Pointer
	plans          []interface{ Close() }
	methods        []string
	preferred      []string // by tests: names of methods
}

// openLibraries loads the libraries and allocates their workspace.
func (e *Executor) openLibraries() (err error) {
	if e.blas, err = blas.Open(e.device); err != nil {
		return err
	}
	if e.dnn, err = dnn.Open(e.device); err != nil {
		return err
	}
	return e.reserve(blasWorkspaceBytes)
}

// workspaceLimit is the largest workspace that a product may ask for.
func (e *Executor) workspaceLimit() int { return int(min(maxWorkspaceBytes, e.device.MemoryBytes/16)) }

// reserve makes the workspace at least so large. It doubles at least, so that those outgrown do not matter.
func (e *Executor) reserve(bytes int) error {
	if bytes <= e.workspaceBytes {
		return nil
	}
	bytes = max(bytes, min(2*e.workspaceBytes, e.workspaceLimit()))
	room, err := e.device.Alloc(bytes)
	if err != nil {
		return fmt.Errorf("gpu: workspace: %w", err)
	}
	if e.workspace != 0 {
		e.outgrown = append(e.outgrown, e.workspace)
	}
	e.workspace, e.workspaceBytes = room, bytes
	return nil
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
	for _, w := range append(e.outgrown, e.workspace) {
		if w != 0 {
			e.device.Free(w)
		}
	}
	e.blas, e.dnn, e.workspace, e.workspaceBytes, e.outgrown = nil, nil, 0, 0, nil
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

// Methods says how each product is computed, in the order of preparation, for logs.
func (e *Executor) Methods() []string { return slices.Clone(e.methods) }

// roundsTF32 reports whether products of float32 may round their factors.
func (e *Executor) roundsTF32() bool { return e.config.Math != Float32 }
