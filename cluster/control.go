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
// A worker has one connection to its launcher. A worker on the launcher's own host inherits one end
// of a socket pair: no port is opened, and because nobody else has an end, no token is needed. If
// workers are on other hosts, or a rendezvous was requested, the launcher listens, and a worker
// dials and sends the token. Both sides then use the same protocol.

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
		return reachSocket(ctx, m.Socket)
	}
	patience := handshakeTimeout
	if m.IsGuest {
		patience = meetTime // rank 0 may start later, and prepares the run first
	}
	return reach(ctx, m.Address, m.Token, patience)
}

// reach dials a listening coordinator and sends it the token. With many strangers the worker's connection
// may be the oldest of them, and be closed, before its token is read: reach then tries again.
func reach(ctx context.Context, address string, t Token, patience time.Duration) (net.Conn, error) {
	const pause = 20 * time.Millisecond
	dialer := net.Dialer{Timeout: dialTimeout}
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil && (patience == handshakeTimeout || ctx.Err() != nil || time.Now().After(end)) {
			return nil, err
		} else if err != nil {
			continue
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

// prove sends the token to a listening coordinator.
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
