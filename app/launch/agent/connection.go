package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Connection is the console's end of a connection to the agent of a host. Its methods may be called
// from several goroutines.
type Connection struct {
	Host  Host
	Hello Hello // of the agent

	line   *line
	closer func()        // ends what carries the connection, and waits for it
	words  func() string // what the carrier has said about its end, such as ssh's last line
	closed chan struct{} // the connection has ended
	err    *HostError    // why; to be read after closed

	mu     sync.Mutex
	hear   func(message) // takes what is about a command; may be nil
	number uint64
	asks   map[uint64]chan reply // by number, of those without a reply
}

// Done returns a channel that is closed when the host is lost or the connection closed.
func (c *Connection) Done() <-chan struct{} { return c.closed }

// Err returns why the connection has ended, to be called after Done.
func (c *Connection) Err() *HostError { return c.err }

// Close ends the connection, and with it the agent and all that it started.
func (c *Connection) Close() {
	c.closer()
	<-c.closed
}

// Ask asks the agent for something by name and returns its answer. The body and the answer are JSON of less
// than a MiB. The error is an *AskError if the agent has answered with one, a *HostError if the host is
// lost, or that of ctx; the agent then still works on the answer.
func (c *Connection) Ask(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.number++
	number := c.number
	c.asks[number] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asks, number)
		c.mu.Unlock()
	}()
	err := c.line.send(message{Ask: &ask{Number: number, Name: name, Body: body}})
	if err != nil && !errors.Is(err, errClosed) {
		return nil, fmt.Errorf("host %s: ask for %s: %w", c.Host.Name, name, err)
	}
	select {
	case r := <-answer:
		if r.Error != "" {
			return nil, &AskError{Host: c.Host.Name, Name: name, Text: r.Error, Status: r.Status}
		}
		return r.Body, nil
	case <-c.closed:
		return nil, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Each calls do for all connections at the same time, and joins the errors in their order.
func Each(all []*Connection, do func(k int, c *Connection) error) error {
	failed := make([]error, len(all))
	var running sync.WaitGroup
	for k, c := range all {
		running.Go(func() { failed[k] = do(k, c) })
	}
	running.Wait()
	return errors.Join(failed...)
}

// attach lets hear take what the agent says about a command; nil: nobody does.
func (c *Connection) attach(hear func(message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hear = hear
}

// isClosed reports whether the connection has ended.
func (c *Connection) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// open takes over a line on which the agent says hello next. closer ends the carrier, which must
// let a blocked read or write of the line return.
func open(h Host, l *line, closer func(), words func() string) (*Connection, error) {
	m, err := l.receive()
	if err != nil || m.Hello == nil {
		l.close()
		closer()
		return nil, &HostError{Host: h.Name, Text: "the agent does not start" + said(words()), Err: err}
	}
	c := &Connection{Host: h, Hello: *m.Hello, line: l, words: words, closed: make(chan struct{}),
		asks: map[uint64]chan reply{}}
	c.closer = sync.OnceFunc(func() { l.close(); closer() })
	go c.run()
	return c, nil
}

// run reads the agent's lines until the connection ends.
func (c *Connection) run() {
	read, silent, done := make(chan error, 1), make(chan bool, 1), make(chan struct{})
	go func() { read <- c.read() }()
	go func() { silent <- c.line.beat(done) }()
	select {
	case err := <-read:
		close(done)
		c.closer()
		c.end(err)
	case <-silent:
		c.end(errSilent)
		c.closer()
		<-read
	}
}

// end notes why the connection has ended.
func (c *Connection) end(cause error) {
	c.err = &HostError{Host: c.Host.Name, IsLost: true, Text: cause.Error()}
	if errors.Is(cause, io.EOF) || errors.Is(cause, os.ErrClosed) {
		c.err.Text = "the connection to its agent has ended" + said(c.words())
	}
	close(c.closed)
}

// read handles the agent's lines until there are no more.
func (c *Connection) read() error {
	for {
		m, err := c.line.receive()
		switch {
		case err != nil:
			return err
		case m.Ended != "":
			return errors.New("its agent has ended: " + m.Ended)
		case m.Reply != nil:
			c.mu.Lock()
			answer := c.asks[m.Reply.Number]
			delete(c.asks, m.Reply.Number)
			c.mu.Unlock()
			if answer != nil {
				answer <- *m.Reply // it has room for one
			}
		default:
			c.mu.Lock()
			hear := c.hear
			c.mu.Unlock()
			if hear != nil {
				hear(m)
			}
		}
	}
}
