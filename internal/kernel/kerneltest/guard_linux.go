package kerneltest

import (
	"syscall"
	"unsafe"
)

// Floats returns n zero floats that end at a page nobody may touch and begin after a sentinel, which is
// checked when the test ends. A kernel that reads or writes past the end crashes.
func Floats(t TB, n int) []float32 {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*(n+sentinels) + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mprotect(m[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(&m[0])), size/4)
	check := fence(t, all[:len(all)-n])
	t.Cleanup(func() {
		check()
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	return all[len(all)-n:]
}
