package kerneltest

import (
	"syscall"
	"testing"
	"unsafe"
)

// Huge returns n zero floats, in huge pages where the system allows, like the values of programs.
func Huge(t testing.TB, n int) []float32 {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Madvise(m, syscall.MADV_HUGEPAGE) // advice: without it memory is only slower
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	return unsafe.Slice((*float32)(unsafe.Pointer(&m[0])), n)
}
