//go:build unix

package shm

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"lockstep/comm"
)

// checkEvery is how often a waiting rank checks that its peers are alive.
const checkEvery = 50 * time.Millisecond

// arrivalNap is how long a rank sleeps between two checks for peers that have not connected yet.
const arrivalNap = 200 * time.Microsecond

// mesh is a rank's ends of the rings.
type mesh struct {
	segment  *segment
	rank     int
	out, in  []pipe
	slots    []*slot
	peers    []process // for isAlive
	dead     []bool
	isClosed atomic.Bool
	isWoken  atomic.Bool // the current or the next Wait returns at once

	release    sync.Mutex // held by Wake, Shutdown and Alloc, which may run after the segment is unmapped
	isReleased bool
	allocated  int // bytes of the arena in use
}

// Connect joins the group of the segment in f as rank, and returns when all others have joined or
// ctx ends. f may be closed afterwards. Each rank of a segment can be taken once.
func Connect(ctx context.Context, f *os.File, rank int) (comm.Mesh, error) {
	s, err := attach(f)
	if err != nil {
		return nil, fmt.Errorf("shm: connect: %w", err)
	}
	m := &mesh{segment: s, rank: rank}
	if err := m.arrive(ctx); err != nil {
		m.closePeers()
		s.release()
		return nil, fmt.Errorf("shm: connect: rank %d: %w", rank, err)
	}
	return m, nil
}

// arrive takes the rank's slot and waits for the others.
func (m *mesh) arrive(ctx context.Context) error {
	s := m.segment
	if m.rank < 0 || m.rank >= s.ranks {
		return fmt.Errorf("the segment has ranks 0 to %d", s.ranks-1)
	}
	m.peers, m.dead = make([]process, s.ranks), make([]bool, s.ranks)
	for r := range s.ranks {
		m.slots = append(m.slots, s.slot(r))
		m.out, m.in = append(m.out, s.pipe(m.rank, r)), append(m.in, s.pipe(r, m.rank))
	}
	if pid := m.slots[m.rank].pid.Swap(uint32(os.Getpid())); pid != 0 {
		return fmt.Errorf("the rank is taken by process %d", pid)
	}
	for r := range m.slots {
		for m.slots[r].pid.Load() == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("rank %d has not connected: %w", r, err)
			}
			time.Sleep(arrivalNap)
		}
		if r != m.rank {
			m.peers[r] = watch(int(m.slots[r].pid.Load()))
		}
	}
	return nil
}

func (m *mesh) Rank() int { return m.rank }
func (m *mesh) Size() int { return m.segment.ranks }

// allocAlign is the alignment of the memory that Alloc returns: a page.
const allocAlign = 4096

func (m *mesh) Alloc(floats int) []float32 {
	m.release.Lock()
	defer m.release.Unlock()
	arena := m.segment.arena(m.rank)
	if floats <= 0 || m.isReleased || floats > (len(arena)-m.allocated)/4 {
		return nil
	}
	at := m.allocated
	m.allocated = min(at+(4*floats+allocAlign-1)/allocAlign*allocAlign, len(arena))
	return unsafe.Slice((*float32)(unsafe.Pointer(&arena[at])), floats)
}

// Send sends body without copying if it can, and else copies it to the ring.
func (m *mesh) Send(peer int, head, body []byte) (int, error) {
	out := &m.out[peer]
	var n int
	var err error
	if _, ok := out.zeroCopyPlace(body); !ok && out.end == 0 {
		n, err = m.move(peer, head, body, out.write)
	} else if n, err = m.move(peer, head, nil, out.write); err == nil && n == len(head) {
		if out.publish(body) {
			m.wake(peer)
		}
		k := 0
		if out.end != 0 {
			k, err = out.consumed()
		} else {
			err = out.writable() // the reason why it was not published
		}
		if n += k; n > 0 {
			err = nil // the next call returns it
		}
	}
	if err == nil && n == 0 && m.dead[peer] {
		err = io.ErrClosedPipe
	}
	return n, err
}

func (m *mesh) Recv(peer int, head, body []byte) (int, error) {
	n, err := m.move(peer, head, body, m.in[peer].take)
	if err == nil && n == 0 && m.dead[peer] && len(head)+len(body) > 0 {
		err = io.EOF
	}
	return n, err
}

// move applies step to head and then body until it moves nothing more, and wakes the peer. An error
// after some bytes is returned by the next call.
func (m *mesh) move(peer int, head, body []byte, step func(head, body []byte) (int, error)) (int, error) {
	if m.isClosed.Load() {
		return 0, comm.ErrClosed
	}
	moved := 0
	for len(head)+len(body) > 0 {
		n, err := step(head, body)
		if n == 0 {
			if moved > 0 {
				err = nil
			}
			return moved, err
		}
		m.wake(peer)
		moved += n
		k := min(n, len(head))
		head, body = head[k:], body[n-k:]
	}
	return moved, nil
}

// wake wakes peer if it sleeps.
func (m *mesh) wake(peer int) {
	d := m.slots[peer]
	if d.isAsleep.Load() != 0 {
		d.bell.Add(1)
		wakeFutex(&d.bell)
	}
}

// Wait sleeps until a link may move in a direction that want asks for. It polls once more between
// setting isAsleep and sleeping: a peer either sees the flag or has moved before that poll.
func (m *mesh) Wait(want []comm.Direction, timeout time.Duration) error {
	d := m.slots[m.rank]
	bell := d.bell.Load()
	d.isAsleep.Store(1)
	if !m.isReady(want) && !m.isClosed.Load() && !m.isWoken.Load() {
		sleepFutex(&d.bell, bell, min(timeout, checkEvery))
	}
	d.isAsleep.Store(0)
	m.isWoken.Store(false)
	if m.isClosed.Load() {
		return comm.ErrClosed
	}
	if d.bell.Load() == bell {
		m.look(want)
	}
	return nil
}

// isReady reports whether a link can move or has ended.
func (m *mesh) isReady(want []comm.Direction) bool {
	for peer, way := range want {
		if way&comm.Sending != 0 && m.out[peer].isMovable() {
			return true
		}
		if in := &m.in[peer]; way&comm.Receiving != 0 &&
			(in.written.Load() != in.read.Load() || in.isEnded.Load() != 0) {
			return true
		}
	}
	return false
}

// look checks which of the peers that are waited for have died.
func (m *mesh) look(want []comm.Direction) {
	for peer, way := range want {
		if way != 0 && !m.dead[peer] {
			m.dead[peer] = !m.peers[peer].isAlive()
		}
	}
}

// Wake has the guarantee of Wait: it either sees isAsleep, or Wait sees isWoken.
func (m *mesh) Wake() {
	m.isWoken.Store(true)
	m.release.Lock()
	defer m.release.Unlock()
	if !m.isReleased {
		m.wake(m.rank)
	}
}

func (m *mesh) Shutdown() {
	m.release.Lock()
	defer m.release.Unlock()
	m.isClosed.Store(true)
	if m.isReleased {
		return
	}
	for peer := range m.slots {
		if peer != m.rank {
			m.out[peer].isEnded.Store(1)
			m.in[peer].isBroken.Store(1)
		}
		d := m.slots[peer]
		d.bell.Add(1)
		wakeFutex(&d.bell)
	}
}

func (m *mesh) Close() error {
	m.Shutdown()
	m.release.Lock()
	defer m.release.Unlock()
	if m.isReleased {
		return nil
	}
	m.isReleased = true
	m.closePeers()
	if err := m.segment.release(); err != nil {
		return fmt.Errorf("shm: close: %w", err)
	}
	return nil
}

func (m *mesh) closePeers() {
	for _, p := range m.peers {
		p.close()
	}
}
