package cluster

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"lockstep/cluster/pass"
	"lockstep/comm/tcp"
)

// Note: control connections
//
// A worker has one connection to its launcher. A worker on the launcher's own host inherits one end
// of a socket pair: no port is opened, and because nobody else has an end, no token is needed. If
// workers are on other hosts, or a rendezvous was requested, the launcher listens, and a worker
// dials and joins by its token over TLS (package pass). Both sides then use the same protocol.

// theLauncher replaces the address in errors of workers that have none.
const theLauncher = "the launcher"

// place names the launcher's address, for errors.
func (m Member) place() string {
	switch {
	case m.Control != 0:
		return theLauncher
	case m.Socket != "":
		return m.Socket
	}
	return m.Address
}

// open returns the worker's control connection, ready for the hello.
func (m Member) open(ctx context.Context) (net.Conn, error) {
	if m.Control != 0 {
		f := os.NewFile(uintptr(m.Control), "control connection")
		defer f.Close() // the connection has its own descriptor, which no child inherits
		return net.FileConn(f)
	}
	if m.Socket != "" {
		return m.reachSocket(ctx)
	}
	patience := reachTime
	if m.IsGuest {
		patience = meetTime // rank 0 may start later, and prepares the run first
	}
	return m.reach(ctx, patience)
}

// reachTime is how long a worker tries to join its launcher, which listens: with 30 % loss one attempt in
// a hundred fails.
const reachTime = 30 * time.Second

// reach dials a listening coordinator and joins by the token. With many strangers the worker's connection
// may be the oldest of them, and be closed, before it has joined: reach then tries again.
func (m Member) reach(ctx context.Context, patience time.Duration) (net.Conn, error) {
	const pause = 20 * time.Millisecond
	if err := m.Token.Run().Check(m.now()); err != nil {
		return nil, err // not after the time that rank 0 may take to listen
	}
	w := m.waiting("reach rank 0 at")
	dialer := net.Dialer{Timeout: dialTimeout, Control: tcp.Insist}
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		conn, err := dialer.DialContext(ctx, "tcp", m.Address)
		late := net.Error(nil)
		isOver := patience == reachTime && !(errors.As(err, &late) && late.Timeout())
		if err != nil && (isOver || ctx.Err() != nil || time.Now().After(end)) {
			return nil, err
		} else if err != nil {
			w.tell(err)
			continue
		}
		interrupt := context.AfterFunc(ctx, func() { conn.Close() })
		inside, err := enterBy(conn, m.Token, m.now())
		interrupt()
		if err == nil {
			return inside, nil
		}
		conn.Close()
		if pass.IsFinal(err) || ctx.Err() != nil || time.Now().After(end) {
			return nil, err
		}
	}
}

// patienceToTell is how long a process waits without a word.
const patienceToTell = 4 * time.Second

// waiting tells once what a process waits for.
type waiting struct {
	member Member
	op     string
	from   time.Time // when it is told
}

func (m Member) waiting(op string) *waiting { return &waiting{m, op, time.Now().Add(patienceToTell)} }

// tell reports an attempt that has failed.
func (w *waiting) tell(err error) {
	if w.member.Waits != nil && time.Now().After(w.from) {
		w.member.Waits(&RendezvousError{Op: w.op, Addr: w.member.place(), Err: err})
		w.member.Waits = nil
	}
}

// enterBy joins over a new connection, now by this host's clock, and returns the encrypted one.
func enterBy(conn net.Conn, t pass.Token, now time.Time) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, err
	}
	inside, err := t.Enter(conn, now)
	if err != nil {
		return nil, err
	}
	return inside, conn.SetDeadline(time.Time{})
}

// lineTo returns the worker's end of a control connection. The end of an inherited connection is
// noticed at once, so the worker needs no time-out and waits for a launcher that is only stopped.
func (m Member) lineTo(conn net.Conn) *line {
	l := newLine(conn)
	if m.Control != 0 || m.Socket != "" {
		l.timeout = 0
	}
	return l
}

// connect gives each process one end of a socket pair and adopts the other. It returns the files to
// close once the processes have started.
func (c *coordinator) connect(processes []process) (ends []*os.File, err error) {
	for rank, p := range processes {
		if p.command == nil {
			continue // another launcher has started it
		}
		own, theirs, err := socketPair()
		if err != nil {
			return ends, err
		}
		ends = append(ends, theirs)
		processes[rank].control = theirs
		c.adopt(own)
	}
	return ends, nil
}
