package graph

import (
	"fmt"

	"lockstep/internal/kernel"
)

// Host computes on the CPU.
type Host struct{ cpu *kernel.CPU }

// NewHost returns an executor that runs on cpu's threads. The caller keeps cpu open for as long as
// programs run and closes it afterwards.
func NewHost(cpu *kernel.CPU) *Host { return &Host{cpu: cpu} }

// Allocate implements Executor. Where the system allows, the block lies outside the Go heap, in
// huge pages.
func (h *Host) Allocate(n int) (Memory, error) { return allocate(n) }

// Prepare implements Executor.
func (h *Host) Prepare(op Op, in, out []Type) (Kernel, error) {
	o, ok := op.(hostOp)
	if !ok {
		return Kernel{}, fmt.Errorf("graph: %s: no kernel for the host", op.Name())
	}
	return o.host(h, in, out), nil
}

// Copy implements Executor.
func (h *Host) Copy(dst, src Buffer) {
	copy(dst.F, src.F)
	copy(dst.I, src.I)
}
