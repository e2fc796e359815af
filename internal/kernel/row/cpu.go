package row

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// CPU is a CPU with the kernels of this package. What they need during a call lives here, so that calls do
// not allocate.
type CPU struct {
	*compute.CPU
	ops     asm.Ops
	element elementwise  // the element-wise call in progress
	loss    crossEntropy // the softmax cross entropy call in progress
}

// On returns the kernels of this package on c.
func On(c *compute.CPU) *CPU { return &CPU{CPU: c, ops: asm.OpsFor(c.ISA(), c.Math())} }
