package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"lockstep/cluster"
)

// Agent describes the agent of a host.
type Agent struct {
	In    io.Reader // from the console
	Out   io.Writer // to the console
	Hello Hello
	// Environment is that of what the agent starts.
	Environment cluster.Environment
	// Answer answers what the console asks for by name. It may be called from several goroutines. Its
	// context ends with the connection.
	Answer func(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error)
	// Status returns the exit status of an error of Answer.
	Status func(error) int
}

// Serve is the life of an agent. It returns when the console is gone, after it has killed everything
// that it started. The error is nil if the console has ended the connection, and otherwise says why
// the agent did not stay. A goroutine may then still wait for In or for Out.
func (a Agent) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &service{Agent: a, line: newLine(a.In, a.Out)}
	defer s.line.close()
	read, silent := make(chan error, 1), make(chan bool, 1)
	go func() { read <- s.read(ctx) }()
	go func() { silent <- s.line.beat(ctx.Done()) }()
	err := s.line.send(message{Hello: &a.Hello})
	if err == nil {
		select {
		case err = <-read:
		case <-silent:
			err = errUnheard
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	cancel()
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		s.line.flush(message{Ended: err.Error()})
	}
	s.line.close() // what is sent now reaches nobody
	s.mu.Lock()
	s.isEnding = true
	s.mu.Unlock()
	s.endAttempt()
	s.answers.Wait()
	s.release()
	if err != nil {
		return fmt.Errorf("agent: the console: %w", err)
	}
	return nil
}

// service is the state of an agent at work.
type service struct {
	Agent
	line    *line
	answers sync.WaitGroup // being computed

	mu       sync.Mutex
	attempt  *attempt   // under way, or nil
	claims   []*os.File // of folders of jobs
	isEnding bool
}

// read handles the console's lines until there are no more.
func (s *service) read(ctx context.Context) error {
	for {
		m, err := s.line.receive()
		if err != nil {
			return err
		}
		switch {
		case m.Ask != nil:
			s.answers.Go(func() { s.answer(ctx, *m.Ask) })
		case m.Signal != "":
			s.signal(m.Signal)
		case m.Envelope != nil:
			if err := s.route(*m.Envelope); err != nil {
				return err
			}
		}
	}
}

// answer answers one ask. A reply that cannot be sent is lost with the connection.
func (s *service) answer(ctx context.Context, a ask) {
	answer := s.Answer
	if isOwn(a.Name) {
		answer = s.own
	}
	body, err := answer(ctx, a.Name, a.Body)
	r := reply{Number: a.Number, Body: body}
	if err != nil {
		r = reply{Number: a.Number, Error: err.Error(), Status: s.Status(err)}
	}
	s.line.send(message{Reply: &r})
}
