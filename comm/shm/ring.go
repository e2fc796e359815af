package shm

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"lockstep/comm"
)

// ring is one direction of a link: what lies in the segment. Writer and reader each have a cache
// line of their own, and one between for the processor that fetches lines in pairs.
type ring struct {
	written atomic.Uint64 // bytes since the start
	isEnded atomic.Uint32 // by the writer: what was written can still be read
	_       [128 - 12]byte
	read    atomic.Uint64
	// isBroken is set by the reader: nothing can be written any more.
	isBroken atomic.Uint32
	_        [128 - 12]byte
}

const ringHead = int(unsafe.Sizeof(ring{}))

// pieceBytes is how much is written or read before the other side may know: while a long message
// is under way both copy at once.
const pieceBytes = 64 << 10

// errDamaged is the cause of an error when the counters of a ring make no sense.
var errDamaged = errors.New("shm: damaged segment")

// pipe is a process's view of a ring.
type pipe struct {
	*ring
	buf []byte
}

// filled returns the number of bytes that were written and not read.
func (p *pipe) filled() (int, error) {
	n := p.written.Load() - p.read.Load()
	if n > uint64(len(p.buf)) {
		return 0, fmt.Errorf("%w: %d bytes in a ring of %d", errDamaged, n, len(p.buf))
	}
	return int(n), nil
}

// write copies as much of b as fits, at most pieceBytes.
func (p *pipe) write(b []byte) (int, error) {
	if p.isEnded.Load() != 0 {
		return 0, comm.ErrClosed
	}
	if p.isBroken.Load() != 0 {
		return 0, io.ErrClosedPipe
	}
	n, err := p.filled()
	if err != nil {
		return 0, err
	}
	n = min(len(b), len(p.buf)-n, pieceBytes)
	if n == 0 {
		return 0, nil
	}
	at := p.written.Load()
	place := int(at % uint64(len(p.buf)))
	copied := copy(p.buf[place:], b[:n])
	copy(p.buf, b[copied:n])
	p.written.Store(at + uint64(n))
	return n, nil
}

// take copies as much into b as is there, at most pieceBytes.
func (p *pipe) take(b []byte) (int, error) {
	if p.isBroken.Load() != 0 {
		return 0, comm.ErrClosed
	}
	ended := p.isEnded.Load() != 0 // before looking for what came ahead of the end
	n, err := p.filled()
	if err != nil {
		return 0, err
	}
	if n == 0 {
		if ended && len(b) > 0 {
			return 0, io.EOF
		}
		return 0, nil
	}
	n = min(len(b), n, pieceBytes)
	at := p.read.Load()
	place := int(at % uint64(len(p.buf)))
	copied := copy(b[:n], p.buf[place:])
	copy(b[copied:n], p.buf)
	p.read.Store(at + uint64(n))
	return n, nil
}
