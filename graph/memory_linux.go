package graph

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// allocate maps n zeroed floats outside the Go heap, where the garbage collector neither scans them nor
// counts them towards its goal, and asks for huge pages. Less than one of those comes from the heap. The
// system provides a page when it is first written to, so that a caller can learn the size of a program by
// compiling it.
func allocate(n int) (Memory, error) {
	if n*4 < hugePage {
		return fromHeap(n), nil
	}
	bytes := (n*4+hugePage-1)/hugePage*hugePage + hugePage
	block, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return Memory{}, fmt.Errorf("graph: map %d bytes: %w", bytes, err)
	}
	_ = unix.Madvise(block, unix.MADV_HUGEPAGE) // advice: without it memory is only slower
	floats := unsafe.Slice((*float32)(unsafe.Pointer(&block[0])), bytes/4)
	return Memory{
		Floats:  aligned(floats, n, hugePage),
		Release: func() { _ = unix.Munmap(block) },
	}, nil
}
