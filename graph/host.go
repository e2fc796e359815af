package graph

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// Host computes on the CPU.
type Host struct {
	cpu      *compute.CPU
	rows     *row.CPU
	products *product.CPU
	norms    map[[2]int]*row.BatchNorm // by rows and channels
}

// NewHost returns an executor that runs on cpu's threads. The caller keeps cpu open for as long as
// programs run and closes it afterwards.
func NewHost(cpu *compute.CPU) *Host {
	return &Host{cpu: cpu, rows: row.On(cpu), products: product.On(cpu), norms: map[[2]int]*row.BatchNorm{}}
}

// batchNorm returns the plan for maps of so many rows and channels. All calls of that shape share it
// with its sums, since a CPU runs one call at a time: resnet50 has 159 of them, of 13 shapes.
func (h *Host) batchNorm(rows, channels int) *row.BatchNorm {
	key := [2]int{rows, channels}
	if h.norms[key] == nil {
		h.norms[key] = h.rows.NewBatchNorm(rows, channels)
	}
	return h.norms[key]
}

// InPlace implements Executor: kernels compute on the caller's slices.
func (h *Host) InPlace() bool { return true }

// Allocate implements Executor. Where the system allows, the block lies outside the Go heap, in
// huge pages.
func (h *Host) Allocate(n int) (Memory, error) { return allocate(n) }

// Prepare implements Executor.
func (h *Host) Prepare(a Application) (Kernel, error) {
	o, ok := a.Op.(hostOp)
	if !ok {
		return Kernel{}, fmt.Errorf("graph: %s: no kernel for the host", a.Name)
	}
	return o.host(h, a.In, a.Out), nil
}

// Upload implements Executor.
func (h *Host) Upload(dst, src *Buffer) { copyBuffer(dst, src) }

// Download implements Executor.
func (h *Host) Download(dst, src *Buffer) { copyBuffer(dst, src) }

func copyBuffer(dst, src *Buffer) {
	copy(dst.F, src.F)
	copy(dst.I, src.I)
}
