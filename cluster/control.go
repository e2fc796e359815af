package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Note: control connections
//
// A worker has one connection to its launcher, and there are two ways to get it. A worker that is
// started on the launcher's own host inherits one end of a socket pair: no port is opened, and nobody
// else has an end, so no token is asked for. Where workers are on other hosts, or a rendezvous was
// asked for, the launcher listens, and a worker dials and shows the token. Both sides then speak the
// same lines.

// theLauncher stands for an address in errors of workers that need none.
const theLauncher = "the launcher"

// place names where a worker meets its launcher, for errors.
func (m Member) place() string {
	if m.Control != 0 {
		return theLauncher
	}
	return m.Address
}

// open returns the worker's control connection, on which it may say hello.
func (m Member) open(ctx context.Context) (net.Conn, error) {
	if m.Control != 0 {
		f := os.NewFile(uintptr(m.Control), "control connection")
		defer f.Close() // the connection has a handle of its own, which no child inherits
		return net.FileConn(f)
	}
	return reach(ctx, m.Address, m.Token)
}

// reach dials a coordinator that listens and shows it the token. Where strangers crowd, the worker's
// connection may be the oldest of them before its token is read, and be closed: reach then tries again.
func reach(ctx context.Context, address string, t Token) (net.Conn, error) {
	const pause = 20 * time.Millisecond
	dialer := net.Dialer{Timeout: dialTimeout}
	for end := time.Now().Add(handshakeTimeout); ; time.Sleep(pause) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		interrupt := context.AfterFunc(ctx, func() { conn.Close() })
		err = prove(conn, t)
		interrupt()
		if err == nil {
			return conn, nil
		}
		conn.Close()
		if errors.Is(err, errNotAdmitted) || ctx.Err() != nil || time.Now().After(end) {
			return nil, err
		}
	}
}

var errNotAdmitted = errors.New("not admitted: the token is not this run's")

// prove shows the token to a coordinator that listens.
func prove(conn net.Conn, t Token) error {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, t.preamble()); err != nil {
		return err
	}
	var answer [len(answerYes)]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return fmt.Errorf("no answer to the token: %w", err)
	}
	if string(answer[:]) != answerYes {
		return errNotAdmitted
	}
	return conn.SetDeadline(time.Time{})
}

// lineTo returns the worker's end of a control connection. The end of an inherited one is seen at once,
// so the worker waits for a launcher that is only stopped.
func (m Member) lineTo(conn net.Conn) *line {
	l := newLine(conn)
	if m.Control != 0 {
		l.timeout = 0
	}
	return l
}

// connect gives each process one end of a socket pair, and adopts the other. It returns what to close
// once the processes have started.
func (c *coordinator) connect(processes []process) (ends []*os.File, err error) {
	for rank := range processes {
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
