package cluster

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// fileSource writes what a worker fetches by name.
type fileSource = func(name string, to io.Writer) error

// Fetched is the end of an answer to Session.Fetch.
type Fetched struct {
	Error string `json:"error,omitempty"` // why the launcher could not send all
}

// Fetch asks the launcher for something by name, such as files that this host lacks, and writes it. The
// launcher answers by LaunchConfig.Files. Fetch is for one goroutine at a time.
func (s *Session) Fetch(name string, to io.Writer) error {
	if err := s.line.send(message{Fetch: name}); err != nil {
		return err
	}
	var failed error // the first of to; the rest is read all the same
	for {
		select {
		case m := <-s.parts:
			switch {
			case m.Fetched != nil && m.Fetched.Error != "":
				return fmt.Errorf("cluster: fetch %s from the launcher: %s", name, m.Fetched.Error)
			case m.Fetched != nil:
				return failed
			case failed == nil:
				_, failed = to.Write(m.Part)
			}
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// receivePart passes a part on to Fetch.
func (s *Session) receivePart(m message) {
	select {
	case s.parts <- m:
	case <-s.ctx.Done():
	}
}

// give answers a worker's Fetch. isBusy says that its last one is still being answered.
func (c *coordinator) give(l *line, name string, isBusy *atomic.Bool) {
	if !isBusy.CompareAndSwap(false, true) {
		l.send(message{Fetched: &Fetched{"one thing at a time"}}) // if that fails, receiving fails too
		return
	}
	c.running.Go(func() {
		err := errors.New("the launcher has no files for workers")
		if c.files != nil {
			err = c.files(name, partWriter{l})
		}
		end := &Fetched{}
		if err != nil {
			end.Error = cutText(err.Error(), maxChunk)
		}
		isBusy.Store(false)
		l.send(message{Fetched: end}) // likewise
	})
}

// partWriter sends what is written to it.
type partWriter struct{ *line }

func (w partWriter) Write(part []byte) (int, error) {
	if err := w.send(message{Part: part}); err != nil {
		return 0, err
	}
	return len(part), nil
}
