package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// ErrStopped is the cause of a session's cancelled context when the launcher asked to stop.
var ErrStopped = errors.New("cluster: stopped by the launcher")

// ErrLauncherLost is the cause of a session's cancelled context when the launcher went away.
var ErrLauncherLost = errors.New("cluster: the launcher is gone")

const (
	dialTimeout    = 10 * time.Second
	welcomeTimeout = 2 * time.Minute // the coordinator gives up earlier and says who is missing
)

// Session is a worker's membership in a running job.
type Session struct {
	// Welcome is what the worker learnt when all had joined.
	Welcome Welcome

	line   *line
	ctx    context.Context
	cancel context.CancelCauseFunc
	reader sync.WaitGroup
}

// Join meets the other workers at m.Address and returns once all are there. Rank and world of the
// hello are taken from m. Errors are *RendezvousError.
func Join(ctx context.Context, m Member, h Hello) (*Session, error) {
	h.Rank, h.World = m.Rank, m.World
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", m.Address)
	if err != nil {
		return nil, &RendezvousError{Op: "join", Addr: m.Address, Err: err}
	}
	interrupt := context.AfterFunc(ctx, func() { conn.Close() })
	defer interrupt()
	l, welcome, err := enter(conn, m.Token, h)
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &RendezvousError{Op: "join", Addr: m.Address, Err: err}
	}
	s := &Session{Welcome: *welcome, line: l}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.reader.Go(s.follow)
	return s, nil
}

// enter performs the worker's side of the handshake.
func enter(conn net.Conn, t Token, h Hello) (*line, *Welcome, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(conn, t.preamble()); err != nil {
		return nil, nil, err
	}
	var answer [len(answerYes)]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, nil, fmt.Errorf("no answer to the token: %w", err)
	}
	if string(answer[:]) != answerYes {
		return nil, nil, errors.New("not admitted: the token is not this run's")
	}
	l := newLine(conn)
	if err := l.send(message{Hello: &h}); err != nil {
		return nil, nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(welcomeTimeout)); err != nil {
		return nil, nil, err
	}
	m, err := l.receive()
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("wait for the other workers: %w", err)
	case m.Refused != "":
		return nil, nil, fmt.Errorf("refused: %s", m.Refused)
	case m.Welcome == nil:
		return nil, nil, errors.New("unexpected answer to hello")
	}
	return l, m.Welcome, conn.SetDeadline(time.Time{})
}

// follow waits for the word to stop, or for the connection to end.
func (s *Session) follow() {
	for {
		m, err := s.line.receive()
		if err != nil {
			s.cancel(ErrLauncherLost)
			return
		}
		if m.Stop {
			s.cancel(ErrStopped)
		}
	}
}

// Context is cancelled when the launcher asks to stop (cause ErrStopped) or is gone (cause
// ErrLauncherLost), or when Join's context is.
func (s *Session) Context() context.Context { return s.ctx }

// Report sends where the worker stands.
func (s *Session) Report(p Progress) error { return s.line.send(message{Progress: &p}) }

// Done sends the worker's result, which is encoded as JSON; nothing may be sent after it.
func (s *Session) Done(result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("cluster: encode result: %w", err)
	}
	return s.line.send(message{Result: text})
}

// Fail sends why the worker cannot go on; nothing may be sent after it.
func (s *Session) Fail(f Failure) error { return s.line.send(message{Failure: &f}) }

// Close leaves the job and waits for the session's goroutine.
func (s *Session) Close() {
	s.line.conn.Close()
	s.reader.Wait()
	s.cancel(context.Canceled)
}
