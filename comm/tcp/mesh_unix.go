//go:build unix

package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"lockstep/comm"
)

// mesh drives the sockets of one rank.
type mesh struct {
	rank     int
	links    []link // by rank
	poll     []unix.PollFd
	isClosed atomic.Bool

	bell              [2]int // a pipe: a byte in it ends a Wait in progress
	rings             [1]byte
	rung              [16]byte
	isAsleep, isWoken atomic.Bool
	closing           sync.RWMutex // held by Wake, and by Close when it closes the bell
}

// newMesh detaches the connections of all ends, by rank and stream, from Go's network poller.
func newMesh(c *Config, ends [][]end) (comm.Mesh, error) {
	m := &mesh{rank: c.Rank, links: make([]link, len(ends)), bell: [2]int{-1, -1}}
	first := m.hangBell()
	for r, all := range ends {
		m.links[r] = newLink(len(all))
		for i, e := range all {
			fd, err := detach(e.conn.(*net.TCPConn), c.SocketBuffer)
			if err != nil && first == nil {
				first = fmt.Errorf("tcp: connect: link to rank %d: %w", r, err)
			}
			m.links[r].streams[i].fd, m.links[r].streams[i].seal = fd, e.seal
		}
	}
	m.poll = make([]unix.PollFd, 0, 2*len(ends)+1)
	if first != nil {
		m.Close()
		return nil, first
	}
	return m, nil
}

// detach closes conn and returns its socket, non-blocking and with TCP_NODELAY. buffer is that of
// [Config.SocketBuffer].
func detach(conn *net.TCPConn, buffer int) (fd int, err error) {
	defer conn.Close()
	fd = -1
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	dupErr := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(dupErr, err); err != nil {
		return -1, err
	}
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	for _, way := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
		if err == nil && buffer > 0 {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, way, buffer)
		}
	}
	return fd, err
}

// hangBell makes the pipe of Wake.
func (m *mesh) hangBell() error {
	if err := unix.Pipe(m.bell[:]); err != nil {
		return fmt.Errorf("tcp: connect: pipe: %w", err)
	}
	for _, fd := range m.bell {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return fmt.Errorf("tcp: connect: pipe: %w", err)
		}
	}
	return nil
}

func (m *mesh) Rank() int { return m.rank }
func (m *mesh) Size() int { return len(m.links) }

// IsChecked reports whether bodies have a checksum: an encrypted link finds every change itself.
func (m *mesh) IsChecked(peer int) bool {
	streams := m.links[peer].streams
	return len(streams) > 0 && streams[0].seal == nil
}

func (m *mesh) Send(peer int, head, body []byte) (int, error) {
	n, err := m.links[peer].send(head, body)
	switch {
	case m.isClosed.Load():
		return 0, comm.ErrClosed
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, nil
	}
	return n, err
}

func (m *mesh) Recv(peer int, head, body []byte) (int, error) {
	n, err := m.links[peer].receive(head, body)
	switch {
	case m.isClosed.Load():
		return 0, comm.ErrClosed
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, nil
	case err == nil && n == 0 && len(head)+len(body) > 0:
		return 0, io.EOF
	}
	return n, err
}

func (m *mesh) Wait(want []comm.Direction, timeout time.Duration) error {
	m.poll = m.poll[:0]
	for peer, way := range want {
		if way == 0 {
			continue
		}
		l := &m.links[peer]
		out, in := l.out.stream, l.in.stream
		if way&comm.Receiving != 0 {
			if s := l.streams[in].seal; s != nil && s.isReady() {
				timeout = 0 // what has arrived already wakes nobody
			}
			m.watch(l.streams[in].fd, unix.POLLIN)
		}
		if way&comm.Sending == 0 {
			continue
		}
		if way&comm.Receiving != 0 && in == out {
			m.poll[len(m.poll)-1].Events |= unix.POLLOUT
		} else {
			m.watch(l.streams[out].fd, unix.POLLOUT)
		}
	}
	m.watch(m.bell[0], unix.POLLIN)
	m.isAsleep.Swap(true) // no Store, which the next load may overtake under qemu's arm64
	var err error
	if !m.isWoken.Load() { // Wake either sees isAsleep or has set isWoken
		_, err = unix.Poll(m.poll, milliseconds(timeout))
	}
	m.isAsleep.Store(false)
	m.isWoken.Store(false)
	if m.poll[len(m.poll)-1].Revents != 0 {
		_, _ = unix.Read(m.bell[0], m.rung[:]) // nothing to read is no error here
	}
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("tcp: poll: %w", err)
	}
	if m.isClosed.Load() {
		return comm.ErrClosed
	}
	return nil
}

// watch adds a descriptor to those of the next poll.
func (m *mesh) watch(fd int, events int16) {
	m.poll = append(m.poll, unix.PollFd{Fd: int32(fd), Events: events})
}

// milliseconds rounds a positive time up; no time is none.
func milliseconds(d time.Duration) int { return int((d + time.Millisecond - 1).Milliseconds()) }

func (m *mesh) Wake() {
	m.isWoken.Store(true)
	m.closing.RLock()
	defer m.closing.RUnlock()
	if m.isAsleep.Load() && m.bell[1] >= 0 {
		_, _ = unix.Write(m.bell[1], m.rings[:]) // a full pipe wakes as well
	}
}

func (m *mesh) Shutdown() {
	m.isClosed.Store(true)
	for i := range m.links {
		for k := range m.links[i].streams {
			if fd := m.links[i].streams[k].fd; fd >= 0 { // nothing else of it: others may use it now
				unix.Shutdown(fd, unix.SHUT_RDWR) // fails if the peer was first, which does no harm
			}
		}
	}
}

func (m *mesh) Close() error {
	m.Shutdown()
	m.closing.Lock()
	defer m.closing.Unlock()
	var first error
	for i, fd := range m.bell {
		if fd >= 0 {
			_ = unix.Close(fd)
			m.bell[i] = -1
		}
	}
	for i := range m.links {
		for k := range m.links[i].streams {
			fd := &m.links[i].streams[k].fd
			if *fd < 0 {
				continue
			}
			if err := unix.Close(*fd); err != nil && first == nil {
				first = fmt.Errorf("tcp: close link to rank %d: %w", i, err)
			}
			*fd = -1
		}
	}
	return first
}
