//go:build linux && amd64 && !purego

package compute

import (
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Of arch_prctl(2): the request to use a state component, and the one of the matrix unit's tiles.
const (
	requestComponent = 0x1023
	tileData         = 18
)

// matrixUnit reports whether this process may use the matrix unit, asking the kernel for it: contexts of
// threads grow by its 8 KiB of tiles.
func matrixUnit() bool {
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 {
		return false
	}
	_, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, requestComponent, tileData, 0)
	return errno == 0
}
