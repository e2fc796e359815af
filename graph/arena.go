package graph

import "unsafe"

// alignFloats is the alignment of every buffer, in floats: one cache line, one AVX-512 vector.
const alignFloats = 16

// alignUp rounds a number of floats up to a whole line.
func alignUp(n int) int { return (n + alignFloats - 1) / alignFloats * alignFloats }

// aligned returns the n floats of block that start at the first multiple of bytes.
func aligned(block []float32, n, bytes int) []float32 {
	skip := 0
	if off := int(uintptr(unsafe.Pointer(&block[0])) % uintptr(bytes)); off != 0 {
		skip = (bytes - off) / 4
	}
	return block[skip : skip+n : skip+n]
}

// alignedFloats returns n zeros on the Go heap that start on a cache line.
func alignedFloats(n int) []float32 {
	return aligned(make([]float32, n+alignFloats), n, alignFloats*4)
}

// fromHeap returns n zeros on the Go heap, which need not be released.
func fromHeap(n int) Memory { return Memory{Floats: alignedFloats(n)} }

// Arena is the memory for the intermediate values of programs. Programs that share an arena need only as
// much memory as the largest of them. Between the Forward and the Backward of one, no other may run; with an
// executor that is not in place, none may run before the results of a Forward are read.
type Arena struct {
	executor Executor
	memory   Memory
	size     int // elements of 4 bytes
	tenants  []*Program
}

// NewArena returns an empty arena in ex's memory; it grows as programs are compiled into it.
func NewArena(ex Executor) *Arena { return &Arena{executor: ex} }

// Bytes returns the arena's size.
func (a *Arena) Bytes() int64 { return int64(a.size) * 4 }

// Close releases the memory. The programs compiled into the arena must not be used afterwards.
func (a *Arena) Close() {
	for _, p := range a.tenants {
		p.place(Memory{})
	}
	a.free()
}

func (a *Arena) free() {
	if a.memory.Release != nil {
		a.memory.Release()
	}
	a.memory, a.size = Memory{}, 0
}

// add makes room for p, moving all tenants if the arena has to grow.
func (a *Arena) add(p *Program, size int) error {
	if size > a.size {
		if !a.executor.InPlace() { // a device may have no room for both
			a.free()
		}
		memory, err := a.executor.Allocate(size)
		if err != nil {
			return err
		}
		a.free()
		a.memory, a.size = memory, size
		for _, t := range a.tenants {
			t.place(memory)
		}
	}
	a.tenants = append(a.tenants, p)
	p.place(a.memory)
	return nil
}
