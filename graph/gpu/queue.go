//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/internal/cuda"
)

// queue is where ops are put, which the GPU does one after another, with memory that products of the
// libraries use while they run.
type queue struct {
	stream    *cuda.Stream
	workspace cuda.Pointer
	// workspaceBytes is its size. outgrown are earlier ones, which recordings may still refer to.
	workspaceBytes int
	outgrown       []cuda.Pointer
}

// Workspaces. cuBLASLt asks for up to 32 MiB on large GPUs, which it always has. cuDNN's gradients of filters
// take more where the sums are split, and its engines without tensor cores want room for copies of the maps.
const (
	blasWorkspaceBytes = 32 << 20
	maxWorkspaceBytes  = 1 << 30
)

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

// close frees the queue's memory, and the queue when it is done.
func (q *queue) close(e *Executor) {
	for _, w := range append(q.outgrown, q.workspace) {
		if w != 0 {
			e.device.Free(w)
		}
	}
	if q.stream != nil {
		q.stream.Close()
	}
	*q = queue{}
}
