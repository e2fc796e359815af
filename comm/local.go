package comm

import (
	"io"
	"sync"
	"time"
)

// pipeBytes is the capacity of one direction of an in-process link.
const pipeBytes = 64 << 10

// NewLocal returns the meshes of size ranks within this process, linked by buffers of 64 KiB. Each
// mesh belongs to one goroutine.
func NewLocal(size int) []Mesh {
	bells := make([]chan struct{}, size)
	for r := range bells {
		bells[r] = make(chan struct{}, 1)
	}
	ends := make([]*localMesh, size)
	meshes := make([]Mesh, size)
	for r := range ends {
		timer := time.NewTimer(time.Hour)
		timer.Stop()
		ends[r] = &localMesh{rank: r, out: make([]*pipe, size), in: make([]*pipe, size),
			bell: bells[r], timer: timer}
		meshes[r] = ends[r]
	}
	for from := range ends {
		for to := range ends {
			if from != to {
				p := &pipe{reader: bells[to], writer: bells[from]}
				ends[from].out[to], ends[to].in[from] = p, p
			}
		}
	}
	return meshes
}

// pipe is one direction of a link: a ring buffer and the bells of its two ends.
type pipe struct {
	mu             sync.Mutex
	buf            []byte // allocated on first use
	first, n       int
	isEnded        bool // set by the writer: buffered bytes can still be read
	isBroken       bool // set by the reader: nothing can be written any more
	reader, writer chan struct{}
}

// write copies as much of b as fits.
func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isEnded {
		return 0, ErrClosed
	}
	if p.isBroken {
		return 0, io.ErrClosedPipe
	}
	if p.buf == nil {
		p.buf = make([]byte, pipeBytes)
	}
	n := min(len(b), len(p.buf)-p.n)
	at := (p.first + p.n) % len(p.buf)
	copied := copy(p.buf[at:], b[:n])
	copy(p.buf, b[copied:n])
	p.n += n
	if n > 0 {
		ring(p.reader)
	}
	return n, nil
}

// read copies as much as is available to b.
func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isBroken {
		return 0, ErrClosed
	}
	n := min(len(b), p.n)
	if n == 0 {
		if p.isEnded && len(b) > 0 {
			return 0, io.EOF
		}
		return 0, nil
	}
	copied := copy(b[:n], p.buf[p.first:])
	copy(b[copied:n], p.buf)
	p.first = (p.first + n) % len(p.buf)
	p.n -= n
	ring(p.writer)
	return n, nil
}

// ring wakes the mesh that waits on bell, or lets its next Wait return at once.
func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// localMesh is a rank's end of in-process pipes.
type localMesh struct {
	rank    int
	out, in []*pipe
	bell    chan struct{}
	timer   *time.Timer
}

func (m *localMesh) Rank() int { return m.rank }
func (m *localMesh) Size() int { return len(m.out) }

func (m *localMesh) Send(peer int, head, body []byte) (int, error) {
	n, err := m.out[peer].write(head)
	if n < len(head) || err != nil || len(body) == 0 {
		return n, err
	}
	k, err := m.out[peer].write(body)
	return n + k, err
}

func (m *localMesh) Recv(peer int, head, body []byte) (int, error) {
	n, err := m.in[peer].read(head)
	if n < len(head) || err != nil || len(body) == 0 {
		return n, err
	}
	k, err := m.in[peer].read(body)
	if k == 0 && n > 0 {
		err = nil // the end is reported by the next call
	}
	return n + k, err
}

// Wait waits until any link moves, whether or not want asks for it.
func (m *localMesh) Wait(_ []Direction, timeout time.Duration) error {
	m.timer.Reset(timeout)
	defer m.timer.Stop()
	select {
	case <-m.bell:
	case <-m.timer.C:
	}
	return nil
}

func (m *localMesh) Wake() { ring(m.bell) }

func (m *localMesh) Shutdown() {
	for r := range m.out {
		if r == m.rank {
			continue
		}
		out, in := m.out[r], m.in[r]
		out.mu.Lock()
		out.isEnded = true
		out.mu.Unlock()
		ring(out.reader)
		in.mu.Lock()
		in.isBroken = true
		in.mu.Unlock()
		ring(in.writer)
	}
	ring(m.bell)
}

func (m *localMesh) Close() error {
	m.Shutdown()
	return nil
}
