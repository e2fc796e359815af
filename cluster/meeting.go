package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lockstep/cluster/pass"
)

// Note: meetings
//
// When another launcher, such as mpirun, has started all processes of a job, the one of rank 0 is
// the launcher of the run: it opens a Meeting, starts a worker of its own for rank 0, and the other
// processes join as the workers of the other ranks. On one machine they meet at a Unix socket in a
// folder that only this user may enter, and both sides check the user of the other; no port is
// opened for it and no token is needed. On several hosts they meet at the address that the launcher
// gives, over TLS, with a token that all have. It must exist before rank 0 starts, so rank 0 derives the
// authority of the run from it: see package pass.
//
// The processes stay until rank 0 is done, and then end with its exit status: launchers take the
// end of one process with another status as the failure of the job, and kill the rest.
const (
	meetTime   = 5 * time.Minute // for the processes of several hosts to start
	gatherTime = 5 * time.Second // for processes that have not come yet when the job is over
	leaveTime  = 5 * time.Second // for processes to end after they have heard the status
)

// Meeting is the rendezvous of processes that another launcher has started. Rank 0 hosts it.
type Meeting struct {
	// Agree, if not nil, returns why a process with these terms (Hello.Terms) does not belong to the job; ""
	// if it does. It is set before Launch, and called from several goroutines.
	Agree func(terms json.RawMessage) (why string)

	place     Place
	authority *pass.Authority
	listener  deadlined
	isClosed  bool
	socket    string // path of a Unix socket; "" for TCP
	mu        sync.Mutex
	members   map[*line]int // workers that have been welcomed, with their process if it is on this machine
}

// deadlined is a listener for which accepting can end at a time.
type deadlined interface {
	net.Listener
	SetDeadline(time.Time) error
}

// IsOneHost reports whether all processes of the job are on this machine, as far as the variables
// say. The error says that they leave it open.
func (p Place) IsOneHost() (bool, error) {
	host, _, _ := net.SplitHostPort(p.Address)
	ip := net.ParseIP(host)
	switch {
	case p.Nodes > 0:
		return p.Nodes == 1, nil
	case p.LocalWorld > 0:
		return false, nil
	case p.Address != "":
		return host == "localhost" || ip != nil && ip.IsLoopback(), nil
	}
	return false, environmentErrorf("%s: nothing says where rank 0 is; set %s, or %s=%d if all processes "+
		"are on this machine", p.Source, EnvMasterAddr, EnvLocalWorld, p.World)
}

// Member returns this process's membership in the job of p. On several hosts it needs an address and
// the token. Errors are *EnvironmentError.
func (p Place) Member(e Environment) (Member, error) {
	m := Member{Rank: p.Rank, World: p.World, Address: p.Address, IsGuest: true}
	isOneHost, err := p.IsOneHost()
	if err != nil {
		return m, err
	}
	if m.Generation, err = e.generation(); err != nil {
		return m, err
	}
	if isOneHost {
		m.Socket, m.Address = p.socketPath(), ""
		return m, nil
	}
	if p.Address == "" {
		return m, environmentErrorf("%s: the processes are on several hosts, but nothing says where rank "+
			"0 is; set %s", p.Source, EnvMasterAddr)
	}
	m.Token, err = e.needToken(p.Source)
	return m, err
}

// socketPath names the Unix socket of the job. A launcher that names no job is told by its process,
// the parent of all.
func (p Place) socketPath() string {
	job := p.Launcher + " " + p.Job
	if p.Job == "" {
		job = fmt.Sprintf("%s process %d", p.Launcher, os.Getppid())
	}
	hash := sha256.Sum256([]byte(job))
	return filepath.Join(os.TempDir(), fmt.Sprintf("lockstep-%d", os.Getuid()),
		hex.EncodeToString(hash[:8])+".sock")
}

// Host opens the meeting of the processes of p, of which this one has rank 0, with its own
// membership m. Processes that join wait until Launch welcomes them. Errors are *RendezvousError.
func Host(p Place, m Member) (*Meeting, error) {
	h := &Meeting{place: p, socket: m.Socket, members: map[*line]int{}}
	var err error
	if m.Socket != "" {
		h.listener, err = listenPrivately(m.Socket)
	} else if err = m.Token.Run().Check(m.now()); err == nil {
		if h.authority, err = m.Token.Authority(); err == nil {
			h.listener, err = m.listenSoon(meetTime)
		}
	}
	if err != nil {
		return nil, &RendezvousError{Op: "listen on", Addr: m.place(), Err: err}
	}
	return h, nil
}

// listenSoon listens at the member's address, whose name may become known a little later than the machine
// starts.
func (m Member) listenSoon(patience time.Duration) (deadlined, error) {
	const pause = time.Second
	w, end := m.waiting("listen on"), time.Now().Add(patience)
	for {
		l, err := listenOn(m.Address)
		if err == nil {
			return l, nil
		}
		if unknown := (*net.DNSError)(nil); !errors.As(err, &unknown) || time.Now().After(end) {
			return nil, err
		}
		w.tell(err)
		time.Sleep(pause)
	}
}

// listenPrivately listens on a Unix socket in a folder of this user alone. The socket of a process
// that is gone is replaced, and those of other jobs whose rank 0 was killed are removed.
func listenPrivately(path string) (deadlined, error) {
	folder := filepath.Dir(path)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := checkPrivate(folder); err != nil {
		return nil, err
	}
	if conn, err := net.Dial("unix", path); err == nil {
		conn.Close()
		return nil, errors.New("another run of the same job listens there")
	}
	left, _ := filepath.Glob(filepath.Join(folder, "*.sock")) // of a pattern that is right
	for _, other := range left {
		info, err := os.Stat(other)
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue // it may be about to listen
		}
		if conn, err := net.Dial("unix", other); err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(other) // or another process has
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// reachSocket dials the Unix socket of a meeting, for which it waits, and checks who listens.
func (m Member) reachSocket(ctx context.Context) (net.Conn, error) {
	const pause = 20 * time.Millisecond
	w := m.waiting("meet rank 0 at")
	for end := time.Now().Add(defaultJoinTimeout); ; time.Sleep(pause) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", m.Socket)
		if err == nil {
			if _, err = peerProcess(conn); err == nil {
				return conn, nil
			}
			conn.Close()
			return nil, err
		}
		isEarly := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if !isEarly || ctx.Err() != nil || time.Now().After(end) {
			return nil, fmt.Errorf("no meeting with rank 0: %w", err)
		}
		w.tell(fmt.Errorf("%w; processes that several shells have started need the same %s", err,
			EnvMasterPort))
	}
}

// isGuest reports whether another launcher has started the process of the rank, which joins.
func (m *Meeting) isGuest(rank int) bool { return m != nil && 0 < rank && rank < m.place.World }

// admit checks a connection and receives the worker's hello.
func (m *Meeting) admit(c *coordinator, conn net.Conn) (l *line, hello *Hello, err error) {
	pid := 0
	if m.socket != "" {
		if pid, err = peerProcess(conn); err != nil {
			return nil, nil, err
		}
		if err := conn.SetReadDeadline(time.Now().Add(handshakeTimeout)); err != nil {
			return nil, nil, err
		}
		c.strangers.Remove(conn)
		l = newLine(conn)
		hello, err = c.greet(l, true)
	} else {
		l, hello, err = c.admit(conn)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil {
		m.mu.Lock()
		m.members[l] = pid
		m.mu.Unlock()
	}
	return l, hello, err
}

// drop forgets a worker that was not welcomed: its connection ends, and End does not wait for it.
func (m *Meeting) drop(l *line) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.members, l)
}

// holds reports whether the connection is that of a member, which stays open until End.
func (m *Meeting) holds(conn net.Conn) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for l := range m.members {
		if l.raw == conn {
			return true
		}
	}
	return false
}

// End tells all processes of the job, also those that come within a few seconds, to end with
// status. It returns when they have ended. One of this machine that does not end is killed.
func (m *Meeting) End(status int) {
	m.gather()
	m.close()
	var leaving sync.WaitGroup
	for l, pid := range m.members {
		leaving.Go(func() {
			defer l.conn.Close()
			if l.send(message{Ended: &Ended{Status: status}}) != nil {
				return // gone
			}
			l.conn.SetReadDeadline(time.Now().Add(leaveTime))
			if _, err := io.Copy(io.Discard, l.conn); errors.Is(err, os.ErrDeadlineExceeded) && pid > 0 {
				if p, err := os.FindProcess(pid); err == nil {
					p.Kill() // it holds the connection, so it is still this process
				}
			}
		})
	}
	leaving.Wait()
}

// close ends listening.
func (m *Meeting) close() {
	if m.isClosed {
		return // another run of the same job may have the socket's name now
	}
	m.isClosed = true
	m.listener.Close() // which removes the socket
}

// acceptUntil makes accepting fail at a time.
func (m *Meeting) acceptUntil(end time.Time) { m.listener.SetDeadline(end) }

// gather admits the processes that have not been welcomed.
func (m *Meeting) gather() {
	c := newCoordinator(m.place.World, m.authority, nil)
	c.meeting = m
	m.acceptUntil(time.Now().Add(gatherTime))
	for len(m.members) < m.place.World-1 {
		conn, err := c.strangers.Accept(m.listener)
		if err != nil {
			return // the time is over, or all had come before
		}
		if _, _, err := m.admit(c, conn); err != nil {
			conn.Close()
		}
	}
}

// EndedError is the error of Join when the job is over before the worker was needed.
type EndedError struct {
	Status int // with which every process of the job ends
}

// Error says so.
func (e *EndedError) Error() string { return fmt.Sprintf("the job has ended with status %d", e.Status) }
