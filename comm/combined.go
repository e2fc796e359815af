package comm

import (
	"errors"
	"time"
)

// Bounds on how long a combined mesh sleeps at a time while it waits for links of both kinds.
const (
	minNap = 50 * time.Microsecond
	maxNap = time.Millisecond
)

// combined uses one mesh for a rank's links within its host and another for those to other hosts.
type combined struct {
	inside, outside         Mesh
	local                   []int // by rank: its number in inside, or -1
	wantInside, wantOutside []Direction
	nap                     time.Duration
}

// Combine returns a mesh that uses inside for the links to ranks on the same host and outside for
// all other links. It owns both. inside numbers the ranks of the host in the order of t.Peers;
// outside numbers all ranks, and its links within the host stay unused.
//
// A wait for links of one kind sleeps in that mesh; the steps of hierarchical are of this kind. Two
// meshes cannot be waited for together, so a wait for both kinds sleeps in inside and polls outside
// in between. It sleeps for 50 us at first and doubles that while nothing moves, up to 1 ms.
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

// link returns the mesh that has the link to peer, and the number of peer in that mesh.
func (m *combined) link(peer int) (Mesh, int) {
	if local := m.local[peer]; local >= 0 {
		return m.inside, local
	}
	return m.outside, peer
}

// Alloc returns memory that the ranks of the host read in place.
func (m *combined) Alloc(n int) []float32 {
	if a, ok := m.inside.(Allocator); ok {
		return a.Alloc(n)
	}
	return nil
}

// IsChecked reports whether the mesh of the link to peer checks it.
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

// moved resets the sleep to its minimum once bytes have moved.
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

func (m *combined) Wake() {
	m.inside.Wake()
	m.outside.Wake()
}

func (m *combined) Shutdown() {
	m.inside.Shutdown()
	m.outside.Shutdown()
}

func (m *combined) Close() error { return errors.Join(m.inside.Close(), m.outside.Close()) }
