//go:build unix

package shm

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// IsSupported reports whether this system has links by shared memory.
const IsSupported = true

// Layout of a segment: the header, one slot per rank, the rings [from][to], each with its head and
// its buffer, and, page-aligned, one arena per rank, which that rank alone writes. Every part
// starts on a multiple of 128 bytes.
const (
	magic      = 'L' | 'S'<<8 | 'M'<<16 | 3<<24
	headerSize = 128
	slotSize   = 128
	// ringBytes is the size of a ring's buffer: it fits in a second-level cache together with the
	// vector it is copied to. In large worlds rings are smaller, so that a rank's stay below
	// rankBytes.
	ringBytes = 256 << 10
	rankBytes = 4 << 20
	minRing   = 16 << 10
	// maxRanks bounds the size of a group; it is far above the number of cores of a host.
	maxRanks = 1024
	// arenaRanks bounds the size of a group that has arenas, so that the address space suffices.
	arenaRanks = 64
)

// header identifies the segment.
type header struct {
	magic, ranks, ring uint32
	arena              uint64
}

// slot is where a rank announces itself and is woken.
type slot struct {
	pid      atomic.Uint32 // 0 until the rank has connected
	bell     atomic.Uint32 // the futex; it counts wake-ups
	isAsleep atomic.Uint32
}

// layout is the sizes of the parts of a segment, and the offset of the arenas.
type layout struct{ ring, arenas, arena, total int }

// layOut returns the layout with arenas of a size, or without any if there are too many ranks.
func layOut(ranks, arena int) layout {
	l := layout{ring: ringBytes}
	for l.ring > minRing && l.ring*(ranks-1) > rankBytes {
		l.ring /= 2
	}
	if ranks > 1 && ranks <= arenaRanks {
		l.arena = arena
	}
	l.arenas = headerSize + ranks*slotSize + ranks*ranks*(ringHead+l.ring)
	l.arenas = (l.arenas + allocAlign - 1) / allocAlign * allocAlign
	l.total = l.arenas + ranks*l.arena
	return l
}

// Create makes the segment of a group of 1 to 1024 ranks. Its memory is allocated on first use: at
// most 256 KiB per ordered pair, and what ranks take from their arenas by Alloc. The caller passes
// the file to the processes of the group, which close it once they are connected.
func Create(ranks int) (*os.File, error) {
	if ranks < 1 || ranks > maxRanks {
		return nil, fmt.Errorf("shm: create: %d ranks, want 1 to %d", ranks, maxRanks)
	}
	f, err := nameless()
	if err != nil {
		return nil, fmt.Errorf("shm: create: %w", err)
	}
	l := layOut(ranks, arenaBytes())
	if err := f.Truncate(int64(l.total)); err != nil {
		f.Close()
		return nil, fmt.Errorf("shm: create: %w", err)
	}
	h := header{magic: magic, ranks: uint32(ranks), ring: uint32(l.ring), arena: uint64(l.arena)}
	if _, err := f.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("shm: create: %w", err)
	}
	return f, nil
}

// Ranks returns the number of ranks of the segment in f.
func Ranks(f *os.File) (int, error) {
	s, err := attach(f)
	if err != nil {
		return 0, fmt.Errorf("shm: %w", err)
	}
	return s.ranks, s.release()
}

// segment is a mapped segment.
type segment struct {
	memory []byte
	ranks  int
	layout
}

// attach maps the segment in f after checking its header.
func attach(f *os.File) (*segment, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < headerSize {
		return nil, fmt.Errorf("%s has %d bytes, too few for a segment", f.Name(), info.Size())
	}
	if most := int64(1) << 40; info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, want at most %d", f.Name(), info.Size(), most)
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", info.Size(), err)
	}
	h := *(*header)(unsafe.Pointer(&memory[0]))
	if h.magic == magic && h.ranks >= 1 && h.ranks <= maxRanks && h.arena <= uint64(len(memory)) {
		s := &segment{memory, int(h.ranks), layOut(int(h.ranks), int(h.arena))}
		if s.ring == int(h.ring) && s.total == len(memory) {
			return s, nil
		}
	}
	unix.Munmap(memory)
	return nil, fmt.Errorf("%s: magic %#x, %d ranks, rings of %d in %d bytes: not a segment of this version",
		f.Name(), h.magic, h.ranks, h.ring, len(memory))
}

func (s *segment) slot(rank int) *slot {
	return (*slot)(unsafe.Pointer(&s.memory[headerSize+rank*slotSize]))
}

func (s *segment) pipe(from, to int) pipe {
	at := headerSize + s.ranks*slotSize + (from*s.ranks+to)*(ringHead+s.ring)
	return pipe{ring: (*ring)(unsafe.Pointer(&s.memory[at])),
		buf: s.memory[at+ringHead:][:s.ring:s.ring], arena: s.arena(from)}
}

func (s *segment) arena(rank int) []byte {
	return s.memory[s.arenas+rank*s.layout.arena:][:s.layout.arena:s.layout.arena]
}

func (s *segment) release() error { return unix.Munmap(s.memory) }
