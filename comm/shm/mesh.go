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

// checkEvery is how often a rank that waits looks whether its peers still live.
const checkEvery = 50 * time.Millisecond

// arrivalNap is how long a rank naps between two looks for peers that have not come yet.
const arrivalNap = 200 * time.Microsecond

// mesh is a rank's ends of the rings.
type mesh struct {
	segment  *segment
	rank     int
	out, in  []pipe
	desks    []*desk
	peers    []process // to see whether they live
	dead     []bool
	isClosed atomic.Bool

	release    sync.Mutex // held by Shutdown and Alloc, which may be called when the segment is gone
	isReleased bool
	allocated  int // bytes of the arena
}

// Connect joins the group of the segment in f as rank, and returns when all others have come or ctx
// ends. f may be closed afterwards. A rank of a segment can be taken once.
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

// arrive takes the rank's desk and waits for the others.
func (m *mesh) arrive(ctx context.Context) error {
	s := m.segment
	if m.rank < 0 || m.rank >= s.ranks {
		return fmt.Errorf("the segment has ranks 0 to %d", s.ranks-1)
	}
	m.peers, m.dead = make([]process, s.ranks), make([]bool, s.ranks)
	for r := range s.ranks {
		m.desks = append(m.desks, s.desk(r))
		m.out, m.in = append(m.out, s.pipe(m.rank, r)), append(m.in, s.pipe(r, m.rank))
	}
	if pid := m.desks[m.rank].pid.Swap(uint32(os.Getpid())); pid != 0 {
		return fmt.Errorf("the place is taken by process %d", pid)
	}
	for r := range m.desks {
		for m.desks[r].pid.Load() == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("rank %d has not come: %w", r, err)
			}
			time.Sleep(arrivalNap)
		}
		if r != m.rank {
			m.peers[r] = watch(int(m.desks[r].pid.Load()))
		}
	}
	return nil
}

func (m *mesh) Rank() int { return m.rank }
func (m *mesh) Size() int { return m.segment.ranks }

// allocAlign is what the memory of Alloc begins at multiples of: a page.
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

// Send lends body if it can, and else copies it to the ring.
func (m *mesh) Send(peer int, head, body []byte) (int, error) {
	out := &m.out[peer]
	var n int
	var err error
	if _, lends := out.lendable(body); !lends && out.end == 0 {
		n, err = m.move(peer, head, body, out.write)
	} else if n, err = m.move(peer, head, nil, out.write); err == nil && n == len(head) {
		if out.lend(body) {
			m.wake(peer)
		}
		k := 0
		if out.end != 0 {
			k, err = out.taken()
		} else {
			err = out.writable() // which is why it was not lent
		}
		if n += k; n > 0 {
			err = nil // it comes back with the next call
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

// move applies step to head and then body for as long as something goes, and wakes the peer. An
// error after some bytes comes back with the next call.
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
	d := m.desks[peer]
	if d.isAsleep.Load() != 0 {
		d.bell.Add(1)
		wakeFutex(&d.bell)
	}
}

// Wait sleeps until a link that want asks for may move. Between setting isAsleep and sleeping it
// looks once more: a peer either sees the flag or has moved before that look.
func (m *mesh) Wait(want []comm.Direction, timeout time.Duration) error {
	d := m.desks[m.rank]
	bell := d.bell.Load()
	d.isAsleep.Store(1)
	if !m.isReady(want) && !m.isClosed.Load() {
		sleepFutex(&d.bell, bell, min(timeout, checkEvery))
	}
	d.isAsleep.Store(0)
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

// look finds out which of the peers that are waited for have died.
func (m *mesh) look(want []comm.Direction) {
	for peer, way := range want {
		if way != 0 && !m.dead[peer] {
			m.dead[peer] = !m.peers[peer].isAlive()
		}
	}
}

func (m *mesh) Shutdown() {
	m.release.Lock()
	defer m.release.Unlock()
	m.isClosed.Store(true)
	if m.isReleased {
		return
	}
	for peer := range m.desks {
		if peer != m.rank {
			m.out[peer].isEnded.Store(1)
			m.in[peer].isBroken.Store(1)
		}
		d := m.desks[peer]
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
