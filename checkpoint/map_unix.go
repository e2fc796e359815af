//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package checkpoint

import (
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"

	"fmt"
)

// mapped is a file mapped to memory.
type mapped []byte

// openSource maps f, or reads it plainly if mapping fails, and takes ownership of f.
func openSource(f *os.File, size int64) source {
	if size == int64(int(size)) && size > 0 {
		block, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
		if err == nil {
			f.Close() // it was only read; the mapping stays
			return mapped(block)
		}
	}
	return plain{f}
}

// visit implements source. A page that cannot be read, because the file shrank or the disk failed,
// is an error and does not end the process.
func (m mapped) visit(at, n int64, use func([]byte) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		fault, ok := cause.(interface{ Addr() uintptr })
		first := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
		if !ok || fault.Addr() < first || fault.Addr() >= first+uintptr(len(m)) {
			panic(cause)
		}
		err = fmt.Errorf("byte %d cannot be read: the file was cut or the disk failed",
			fault.Addr()-first)
	}()
	for end := at + n; at < end; at += chunkBytes {
		if err := use(m[at:min(end, at+chunkBytes)]); err != nil {
			return err
		}
	}
	return nil
}

func (m mapped) close() error { return syscall.Munmap(m) }
