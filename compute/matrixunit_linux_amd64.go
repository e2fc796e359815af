//go:build linux && amd64 && !purego

package compute

import (
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// Constants of arch_prctl(2): the request to use a state component, and the number of the tiles' component.
const (
	requestComponent = 0x1023
	tileData         = 18
)

// matrixUnit asks the kernel for permission to use the matrix unit and reports whether it was granted. The
// contexts of threads grow by 8 KiB of tiles.
func matrixUnit() bool {
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 {
		return false
	}
	_, _, errno := unix.Syscall(unix.SYS_ARCH_PRCTL, requestComponent, tileData, 0)
	return errno == 0
}
