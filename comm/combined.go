package comm

import (
	"errors"
	"time"
)

// Bounds of how long a combined mesh sleeps at a time when it waits for links of both kinds.
const (
	minNap = 50 * time.Microsecond
	maxNap = time.Millisecond
)

// combined is a rank's links to its own host, by one mesh, and to others, by another.
type combined struct {
	inside, outside         Mesh
	local                   []int // by rank: its number inside, or -1
	wantInside, wantOutside []Direction
	nap                     time.Duration
}

// Combine returns a rank's mesh whose links to the ranks it shares its host with are inside's, and
// the others outside's; it owns both. inside numbers the ranks of the host in the order of
// t.Peers, outside all ranks; its links within the host are not used.
//
// A schedule that keeps the two kinds apart, as hierarchical does, waits as its links do. While
// both are waited for, the mesh sleeps on inside's for 50 us at first and, as long as nothing moves,
// twice as long each time, up to 1 ms, and looks for outside's in between: two meshes have no
// common thing to sleep on.
func Combine(inside, outside Mesh, t Topology) Mesh {
	m := &combined{inside: inside, outside: outside, local: make([]int, t.Size()),
		wantInside: make([]Direction, inside.Size()), wantOutside: make([]Direction, t.Size()), nap: minNap}
	for rank := range m.local {
		m.local[rank] = -1
		if t.isWithin(rank, outside.Rank()) {
			m.local[rank] = t.place[rank].index
		}
	}
	return m
}

func (m *combined) Rank() int { return m.outside.Rank() }
func (m *combined) Size() int { return m.outside.Size() }

// link returns the mesh that links peer, and its number there.
func (m *combined) link(peer int) (Mesh, int) {
	if local := m.local[peer]; local >= 0 {
		return m.inside, local
	}
	return m.outside, peer
}

// Alloc returns memory that the ranks of the host read in place.
func (m *combined) Alloc(n int) []float32 {
	if lender, ok := m.inside.(Lender); ok {
		return lender.Alloc(n)
	}
	return nil
}

// IsChecked reports whether the link to peer is checked where it belongs.
func (m *combined) IsChecked(peer int) bool {
	mesh, number := m.link(peer)
	return isChecked(mesh, number)
}

func (m *combined) Send(peer int, head, body []byte) (int, error) {
	mesh, number := m.link(peer)
	n, err := mesh.Send(number, head, body)
	m.moved(n)
	return n, err
}

func (m *combined) Recv(peer int, head, body []byte) (int, error) {
	mesh, number := m.link(peer)
	n, err := mesh.Recv(number, head, body)
	m.moved(n)
	return n, err
}

// moved begins naps anew once bytes have moved.
func (m *combined) moved(n int) {
	if n > 0 {
		m.nap = minNap
	}
}

func (m *combined) Wait(want []Direction, timeout time.Duration) error {
	var inside, outside Direction
	for peer, way := range want {
		m.wantOutside[peer] = 0
		if local := m.local[peer]; local >= 0 {
			m.wantInside[local] = way
			inside |= way
		} else {
			m.wantOutside[peer] = way
			outside |= way
		}
	}
	switch {
	case inside == 0:
		return m.outside.Wait(m.wantOutside, timeout)
	case outside == 0:
		return m.inside.Wait(m.wantInside, timeout)
	}
	nap := min(m.nap, timeout)
	m.nap = min(2*m.nap, maxNap)
	return m.inside.Wait(m.wantInside, nap)
}

func (m *combined) Shutdown() {
	m.inside.Shutdown()
	m.outside.Shutdown()
}

func (m *combined) Close() error { return errors.Join(m.inside.Close(), m.outside.Close()) }
