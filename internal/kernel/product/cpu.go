package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// CPU is a CPU with the kernels of this package.
type CPU struct {
	*compute.CPU
	ops       asm.Ops
	finishing finishing // the call of a Finisher in progress
}

// On returns the kernels of this package on c.
func On(c *compute.CPU) *CPU { return &CPU{CPU: c, ops: asm.OpsFor(c.ISA(), c.Math())} }

// isSmall reports whether so many products are done before other threads have woken.
func (c *CPU) isSmall(products int) bool { return products < c.ops.Gemm.Serial }
