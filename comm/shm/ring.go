package shm

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"lockstep/comm"
)

// ring is one direction of a link, as it lies in the segment. Writer and reader each have cache
// lines of their own, with a spare line between for the prefetcher, which fetches lines in pairs.
// isBroken has another line, which hardly ever changes: the writer reads it at every call, but
// reads the counter of the reader only when it may lack room.
//
// Bytes are numbered from the start of the link. Byte i lies at i modulo the size of the buffer,
// except those of a zero-copy message: they stay in the writer's arena, from which the reader
// copies them.
type ring struct {
	written    atomic.Uint64 // bytes since the start
	isEnded    atomic.Uint32 // set by the writer: what was written can still be read
	_          uint32
	descriptor descriptor
	_          [128 - 40]byte
	read       atomic.Uint64
	_          [128 - 8]byte
	// isBroken is set by the reader: nothing can be written any more.
	isBroken atomic.Uint32
	_        [128 - 4]byte
}

// descriptor is the descriptor of a zero-copy message: the place of its bytes in the writer's
// arena. It describes the last bytes written if at + length is the number of bytes written so far,
// and nothing otherwise. The writer sets it, length last, before it counts those bytes as written,
// and not again until they are read.
type descriptor struct {
	length, at atomic.Uint64
	place      atomic.Uint64 // in the arena
}

const ringHead = int(unsafe.Sizeof(ring{}))

// pieceBytes is how much is copied before the other side is told, so that both ends of a long
// message copy at the same time.
const pieceBytes = 64 << 10

// minZeroCopy is the least size worth sending without copying: the writer of a shorter message
// continues at once. Two processes, medians of three interleaved runs, zero-copy and copied:
// all-reduce of 1 MiB 231 and 273 us, of 64 KiB 32 and 20 us; the exchange of lenet's 210 KiB in
// training, where the ring is in no near cache, 84 and 105 us.
const minZeroCopy = 64 << 10

// errDamaged is the cause of an error if the counters of a ring are inconsistent.
var errDamaged = errors.New("shm: damaged segment")

// pipe is a process's view of a ring.
type pipe struct {
	*ring
	buf   []byte
	arena []byte // the writer's
	seen  uint64 // the value of read that the writer saw last

	// The writer's zero-copy message in progress, if end is not 0: its end, and how far it was
	// reported as sent.
	end, reported uint64
}

// room returns how many bytes can be written to the buffer. It may be too low if it is at least
// wanted.
func (p *pipe) room(wanted int) (int, error) {
	if p.end != 0 {
		return 0, nil
	}
	size, written := uint64(len(p.buf)), p.written.Load()
	if n := written - p.seen; n > size || size-n < uint64(wanted) {
		p.seen = p.read.Load()
	}
	n := written - p.seen
	if n > size {
		return 0, p.damaged(n)
	}
	return int(size - n), nil
}

func (p *pipe) damaged(n uint64) error {
	return fmt.Errorf("%w: %d bytes in a ring of %d", errDamaged, n, len(p.buf))
}

// writable returns the reason why nothing can be written any more, or nil.
func (p *pipe) writable() error {
	if p.isEnded.Load() != 0 {
		return comm.ErrClosed
	}
	if p.isBroken.Load() != 0 {
		return io.ErrClosedPipe
	}
	return nil
}

// write copies as much of head and then body as fits, at most pieceBytes, and updates the counter
// once: a polling reader fetches the counter's cache line each time it changes.
func (p *pipe) write(head, body []byte) (int, error) {
	if err := p.writable(); err != nil {
		return 0, err
	}
	wanted := min(len(head)+len(body), pieceBytes)
	room, err := p.room(wanted)
	if err != nil {
		return 0, err
	}
	n := min(wanted, room)
	if n == 0 {
		return 0, nil
	}
	at := p.written.Load()
	k := min(len(head), n)
	p.put(at, head[:k])
	p.put(at+uint64(k), body[:n-k])
	p.written.Store(at + uint64(n))
	return n, nil
}

// put copies b to the buffer, beginning with byte number at.
func (p *pipe) put(at uint64, b []byte) {
	n := copy(p.buf[at%uint64(len(p.buf)):], b)
	copy(p.buf, b[n:])
}

// zeroCopyPlace returns the place of b in the arena. ok is false if b is not in it, or too short
// for zero-copy.
func (p *pipe) zeroCopyPlace(b []byte) (place uintptr, ok bool) {
	if len(b) < minZeroCopy {
		return 0, false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(p.arena)))
	place = uintptr(unsafe.Pointer(unsafe.SliceData(b))) - first
	return place, place < uintptr(len(p.arena)) && uintptr(len(p.arena))-place >= uintptr(len(b))
}

// publish sends b by descriptor and reports whether it could; there is one zero-copy message at a
// time. The reader then copies b from the arena, and consumed returns its progress.
func (p *pipe) publish(b []byte) bool {
	place, ok := p.zeroCopyPlace(b)
	if !ok || p.end != 0 || p.writable() != nil {
		return false
	}
	at := p.written.Load()
	p.descriptor.length.Store(0)
	p.descriptor.at.Store(at)
	p.descriptor.place.Store(uint64(place))
	p.descriptor.length.Store(uint64(len(b)))
	p.end, p.reported = at+uint64(len(b)), at
	p.written.Store(p.end)
	return true
}

// consumed returns how many bytes of the zero-copy message the reader has copied since the last
// call. A reader that has copied all of it may have left since, which is no error here.
func (p *pipe) consumed() (int, error) {
	cause := p.writable() // before reading the counter
	read := p.read.Load()
	if read > p.end {
		return 0, p.damaged(read - p.end)
	}
	if read <= p.reported { // the reader is still at earlier bytes
		return 0, cause
	}
	n := read - p.reported
	p.reported = read
	if read == p.end {
		p.end = 0
	}
	return int(n), nil
}

// isMovable reports whether something can be written, or progress of the zero-copy message
// reported.
func (p *pipe) isMovable() bool {
	if p.end != 0 {
		return p.read.Load() > p.reported || p.isBroken.Load() != 0
	}
	n, err := p.room(1)
	return err != nil || n > 0 || p.isBroken.Load() != 0
}

// next returns readable bytes, up to the end of the buffer or of the zero-copy message.
func (p *pipe) next() ([]byte, error) {
	written, read := p.written.Load(), p.read.Load()
	n := written - read
	length := p.descriptor.length.Load()
	if at := p.descriptor.at.Load(); length > 0 && n > 0 && at+length == written {
		if read >= at {
			return p.zeroCopy(read-at, length)
		}
		n = at - read
	}
	if n > uint64(len(p.buf)) {
		return nil, p.damaged(n)
	}
	place := int(read % uint64(len(p.buf)))
	return p.buf[place:min(place+int(n), len(p.buf))], nil
}

// zeroCopy returns the unread rest of the zero-copy message.
func (p *pipe) zeroCopy(read, length uint64) ([]byte, error) {
	place, size := p.descriptor.place.Load(), uint64(len(p.arena))
	if place > size || length > size-place || read > length {
		return nil, fmt.Errorf("%w: descriptor of %d bytes at %d in an arena of %d", errDamaged, length,
			place, size)
	}
	return p.arena[place+read : place+length], nil
}

// take copies available bytes to head and then body, at most pieceBytes.
func (p *pipe) take(head, body []byte) (int, error) {
	if p.isBroken.Load() != 0 {
		return 0, comm.ErrClosed
	}
	ended := p.isEnded.Load() != 0 // before checking for bytes ahead of the end
	from, err := p.next()
	if err != nil {
		return 0, err
	}
	if len(from) == 0 {
		if ended && len(head)+len(body) > 0 {
			return 0, io.EOF
		}
		return 0, nil
	}
	from = from[:min(len(from), pieceBytes)]
	n := copy(head, from)
	n += copy(body, from[n:])
	p.read.Store(p.read.Load() + uint64(n))
	return n, nil
}
