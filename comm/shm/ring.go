package shm

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"lockstep/comm"
)

// ring is one direction of a link: what lies in the segment. Writer and reader each have cache
// lines of their own, and one between for the processor that fetches lines in pairs. isBroken has another,
// which does not change: the writer looks at it every time, at read only when it may lack room.
//
// Bytes have numbers from the start of the link. Byte i lies at i modulo the size of the buffer,
// except those of a loan: they stay in the writer's arena, where the reader gets them.
type ring struct {
	written atomic.Uint64 // bytes since the start
	isEnded atomic.Uint32 // by the writer: what was written can still be read
	_       uint32
	loan    loan
	_       [128 - 40]byte
	read    atomic.Uint64
	_       [128 - 8]byte
	// isBroken is set by the reader: nothing can be written any more.
	isBroken atomic.Uint32
	_        [128 - 4]byte
}

// loan is the descriptor of a zero-copy message: where its bytes lie in the writer's arena. It describes the
// last bytes written if at + length is the number of bytes written so far, and nothing otherwise. The writer
// sets it, length last, before it counts those bytes as written, and not again before they are read.
type loan struct {
	length, at atomic.Uint64
	place      atomic.Uint64 // in the arena
}

const ringHead = int(unsafe.Sizeof(ring{}))

// pieceBytes is how much is copied before the other side may know: while a long message is under way
// both copy at once.
const pieceBytes = 64 << 10

// minLoan is the least that is worth lending: the writer of less goes on at once. Two processes, medians of
// three interleaved runs: all-reduce of 1 MiB 231 us lent and 273 us copied, of 64 KiB 32 and 20 us; the
// exchange of lenet's 210 KiB in training, which leaves the ring in no near cache, 84 and 105 us.
const minLoan = 64 << 10

// errDamaged is the cause of an error when the counters of a ring make no sense.
var errDamaged = errors.New("shm: damaged segment")

// pipe is a process's view of a ring.
type pipe struct {
	*ring
	buf   []byte
	arena []byte // the writer's
	seen  uint64 // by the writer, of read

	// Of the writer's loan under way, if end is not 0: its end and how much of it was reported as sent.
	end, reported uint64
}

// room returns how many bytes may be written to the buffer, all there are if they are fewer than wanted.
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

// writable reports why nothing can be written any more.
func (p *pipe) writable() error {
	if p.isEnded.Load() != 0 {
		return comm.ErrClosed
	}
	if p.isBroken.Load() != 0 {
		return io.ErrClosedPipe
	}
	return nil
}

// write copies as much of head and then body as fits, at most pieceBytes, and counts it at once: a
// reader who looks all the time takes the line of the counter each time it changes.
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

// put copies b to where byte at and those after it lie.
func (p *pipe) put(at uint64, b []byte) {
	n := copy(p.buf[at%uint64(len(p.buf)):], b)
	copy(p.buf, b[n:])
}

// lendable reports whether b is long enough to be lent and lies in the arena, and where.
func (p *pipe) lendable(b []byte) (place uintptr, ok bool) {
	if len(b) < minLoan {
		return 0, false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(p.arena)))
	place = uintptr(unsafe.Pointer(unsafe.SliceData(b))) - first
	return place, place < uintptr(len(p.arena)) && uintptr(len(p.arena))-place >= uintptr(len(b))
}

// lend writes b, which is lendable, by telling where it lies and reports whether it does so: one loan at a
// time. The reader then takes it from there, and taken returns how far it has come.
func (p *pipe) lend(b []byte) bool {
	place, ok := p.lendable(b)
	if !ok || p.end != 0 || p.writable() != nil {
		return false
	}
	at := p.written.Load()
	p.loan.length.Store(0)
	p.loan.at.Store(at)
	p.loan.place.Store(uint64(place))
	p.loan.length.Store(uint64(len(b)))
	p.end, p.reported = at+uint64(len(b)), at
	p.written.Store(p.end)
	return true
}

// taken returns how many bytes of the loan the reader has taken since the last call. A reader that has
// taken all may have left since: that is none of the loan's business.
func (p *pipe) taken() (int, error) {
	cause := p.writable() // before looking how far it came
	read := p.read.Load()
	if read > p.end {
		return 0, p.damaged(read - p.end)
	}
	if read <= p.reported { // what was written before comes first
		return 0, cause
	}
	n := read - p.reported
	p.reported = read
	if read == p.end {
		p.end = 0
	}
	return int(n), nil
}

// isMovable reports whether something can be written, or the last loan reported.
func (p *pipe) isMovable() bool {
	if p.end != 0 {
		return p.read.Load() > p.reported || p.isBroken.Load() != 0
	}
	n, err := p.room(1)
	return err != nil || n > 0 || p.isBroken.Load() != 0
}

// next returns bytes that can be read, up to the end of the buffer or loan they lie in.
func (p *pipe) next() ([]byte, error) {
	written, read := p.written.Load(), p.read.Load()
	n := written - read
	length := p.loan.length.Load()
	if at := p.loan.at.Load(); length > 0 && n > 0 && at+length == written {
		if read >= at {
			return p.lent(read-at, length)
		}
		n = at - read
	}
	if n > uint64(len(p.buf)) {
		return nil, p.damaged(n)
	}
	place := int(read % uint64(len(p.buf)))
	return p.buf[place:min(place+int(n), len(p.buf))], nil
}

// lent returns the loan but for the bytes already read.
func (p *pipe) lent(read, length uint64) ([]byte, error) {
	place, size := p.loan.place.Load(), uint64(len(p.arena))
	if place > size || length > size-place || read > length {
		return nil, fmt.Errorf("%w: loan of %d bytes at %d in an arena of %d", errDamaged, length, place,
			size)
	}
	return p.arena[place+read : place+length], nil
}

// take copies what is there into head and then body, at most pieceBytes.
func (p *pipe) take(head, body []byte) (int, error) {
	if p.isBroken.Load() != 0 {
		return 0, comm.ErrClosed
	}
	ended := p.isEnded.Load() != 0 // before looking for what came ahead of the end
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
