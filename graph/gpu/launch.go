//go:build cuda && linux && amd64

package gpu

import (
	"fmt"
	"math"
	"unsafe"

	"lockstep/internal/cuda"
)

// launch is a kernel with everything but the addresses of its operands.
type launch struct {
	executor        *Executor
	kernel          *cuda.Kernel
	blocks, threads cuda.Size
	sharedBytes     int
	pointers        int
	values          []uint64         // the arguments: pointers first, then scalars
	params          []unsafe.Pointer // to values
}

// launch prepares a kernel that takes so many pointers and then the scalars, each an int (an int in C), a
// float32 or a uint64. It runs in blocks of threads.
func (e *Executor) launch(name string, pointers int, blocks, threads cuda.Size, scalars ...any) *launch {
	l := &launch{executor: e, kernel: e.kernel(name), blocks: blocks, threads: threads, pointers: pointers,
		values: make([]uint64, pointers+len(scalars))}
	for i := range l.values {
		l.params = append(l.params, unsafe.Pointer(&l.values[i]))
	}
	for i, s := range scalars {
		l.set(i, s)
	}
	return l
}

// shared gives each block so many bytes of shared memory besides what the kernel declares.
func (l *launch) shared(bytes int) *launch {
	const free = 48 << 10
	l.sharedBytes = bytes
	if bytes > free {
		l.executor.note(l.kernel.AllowShared(bytes))
	}
	return l
}

// set changes scalar number i.
func (l *launch) set(i int, value any) {
	at := &l.values[l.pointers+i]
	switch v := value.(type) {
	case int:
		*at = uint64(uint32(int32(v)))
	case float32:
		*at = uint64(math.Float32bits(v))
	case uint64:
		*at = v
	default:
		panic(fmt.Sprintf("gpu: argument of type %T", value))
	}
}

// setInt is set without an allocation.
func (l *launch) setInt(i, value int) { l.values[l.pointers+i] = uint64(uint32(int32(value))) }

// run queues the kernel on operands at these addresses.
func (l *launch) run(at ...cuda.Pointer) {
	e := l.executor
	if e.err != nil {
		return
	}
	if len(at) != l.pointers {
		panic(fmt.Sprintf("gpu: %d operands, want %d", len(at), l.pointers))
	}
	for i, p := range at {
		l.values[i] = uint64(p)
	}
	if err := e.stream.Launch(l.kernel, l.blocks, l.threads, l.sharedBytes, l.params); err != nil {
		e.note(err)
	}
}

// ceil returns n/d, rounded up.
func ceil(n, d int) int { return (n + d - 1) / d }

// linear is a size of one direction.
func linear(n int) cuda.Size { return cuda.Size{X: n} }
