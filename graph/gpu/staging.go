//go:build cuda && linux && amd64

package gpu

import (
	"runtime"
	"sync"
	"unsafe"

	"lockstep/internal/cuda"
)

// Note: staging
//
// The GPU copies from and to pinned memory of the host while the program goes on. What is sent is first
// copied there, in turn; the memory is used again from its start when the queue is empty. Large slices that
// are sent again and again, such as a loader's batches, are pinned themselves, so that nothing is copied
// twice.

// staging is pinned memory for copies in progress.
type staging struct {
	device *cuda.Device
	rooms  []unsafe.Pointer
	room   []byte  // the last of rooms
	used   int     // of it
	taken  int     // of all rooms since the last reset
	large  []large // slices that were sent
	pinner runtime.Pinner
}

// large is a large slice that was sent before.
type large struct {
	memory              []byte
	isPinned, isRefused bool
}

// Slices of at least pinnedBytes are pinned when they are sent for the second time, up to pinnedSlices of
// them.
const (
	pinnedBytes  = 256 << 10
	pinnedSlices = 32
)

// keptBytes bounds a room that stays although less than a quarter of it is of use.
const keptBytes = 64 << 20

// isPinned reports whether the GPU can copy from src itself.
func (s *staging) isPinned(src []byte) bool {
	if len(src) < pinnedBytes {
		return false
	}
	for i := range s.large {
		if l := &s.large[i]; &l.memory[0] == &src[0] && len(l.memory) >= len(src) {
			if !l.isPinned && !l.isRefused {
				l.isRefused = s.device.Register(l.memory) != nil
				l.isPinned = !l.isRefused
				if l.isPinned {
					s.pinner.Pin(&l.memory[0])
				}
			}
			return l.isPinned
		}
	}
	if len(s.large) < pinnedSlices {
		s.large = append(s.large, large{memory: src})
	}
	return false
}

// take returns n bytes, which stay until reset.
func (s *staging) take(n int) ([]byte, error) {
	if s.used+n > len(s.room) {
		size := max(2*len(s.room), n, 1<<20)
		p, err := s.device.AllocHost(size)
		if err != nil {
			return nil, err
		}
		s.rooms, s.room, s.used = append(s.rooms, p), unsafe.Slice((*byte)(p), size), 0
	}
	taken := s.room[s.used : s.used+n : s.used+n]
	s.used += aligned(n)
	s.taken += aligned(n)
	return taken, nil
}

// reset makes the memory free, when no copy is in progress. A room that was made for much more than what is
// sent now, such as all weights, goes.
func (s *staging) reset() {
	kept := 1
	if len(s.room) > keptBytes && s.taken < len(s.room)/4 {
		kept, s.room = 0, nil
	}
	s.used, s.taken = 0, 0
	for len(s.rooms) > kept {
		s.device.FreeHost(s.rooms[0])
		s.rooms = s.rooms[1:]
	}
}

func (s *staging) close() {
	for _, p := range s.rooms {
		s.device.FreeHost(p)
	}
	for _, l := range s.large {
		if l.isPinned {
			s.device.Unregister(l.memory)
		}
	}
	s.pinner.Unpin()
	s.rooms, s.room, s.large = nil, nil, nil
}

// bytesOf returns the memory of x.
func bytesOf[T float32 | int32 | uint64](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// send queues a copy of src, which may be changed after the next Wait or Download.
func (e *Executor) send(dst cuda.Pointer, src []byte) {
	if len(src) == 0 || e.err != nil {
		return
	}
	if e.staging.isPinned(src) {
		e.note(e.stream.ToDevice(dst, unsafe.Pointer(&src[0]), len(src)))
		return
	}
	room, err := e.staging.take(len(src))
	if err != nil {
		e.note(err)
		return
	}
	copyWide(room, src)
	e.note(e.stream.ToDevice(dst, unsafe.Pointer(&room[0]), len(src)))
}

// receive copies to dst when all queued work is done.
func (e *Executor) receive(dst []byte, src cuda.Pointer) {
	if len(dst) == 0 || e.err != nil {
		return
	}
	if e.staging.isPinned(dst) {
		e.note(e.stream.ToHost(unsafe.Pointer(&dst[0]), src, len(dst)))
		e.Wait()
		return
	}
	room, err := e.staging.take(len(dst))
	if err != nil {
		e.note(err)
		return
	}
	e.note(e.stream.ToHost(unsafe.Pointer(&room[0]), src, len(dst)))
	e.note(e.stream.Wait())
	copyWide(dst, room)
	e.staging.reset()
}

// wideCopy is the size above which several threads copy.
const wideCopy = 1 << 20

// copyWide copies large slices with several threads: one reaches a fraction of the link's speed.
func copyWide(dst, src []byte) {
	parts := min(len(src)/wideCopy, 8, runtime.GOMAXPROCS(0))
	if parts < 2 {
		copy(dst, src)
		return
	}
	var all sync.WaitGroup
	for i := range parts {
		lo, hi := len(src)*i/parts, len(src)*(i+1)/parts
		all.Go(func() { copy(dst[lo:hi], src[lo:hi]) })
	}
	all.Wait()
}
