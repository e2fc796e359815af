package cluster

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// maxPart is the most bytes of a part of a file; as JSON, they fit a line.
const maxPart = 32 << 10

// fileSource passes what a worker fetches by name to send.
type fileSource = func(name string, send func(part []byte) error) error

// Fetched is the end of an answer to Session.Fetch.
type Fetched struct {
	Error string `json:"error,omitempty"` // why the launcher could not send all
}

// Fetch asks the launcher for something by name, such as a file that this host lacks, and passes its parts to
// take, each of at most 32 KiB. The launcher answers by LaunchConfig.Files. Fetch is for one goroutine at a
// time.
func (s *Session) Fetch(name string, take func(part []byte) error) error {
	if err := s.line.send(message{Fetch: name}); err != nil {
		return err
	}
	var failed error // the first of take; the rest is read all the same
	for {
		select {
		case m := <-s.parts:
			switch {
			case m.Fetched != nil && m.Fetched.Error != "":
				return fmt.Errorf("cluster: fetch %s from the launcher: %s", name, m.Fetched.Error)
			case m.Fetched != nil:
				return failed
			case failed == nil:
				failed = take(m.Part)
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
			err = c.files(name, func(part []byte) error {
				for len(part) > 0 {
					n := min(len(part), maxPart)
					if err := l.send(message{Part: part[:n]}); err != nil {
						return err
					}
					part = part[n:]
				}
				return nil
			})
		}
		end := &Fetched{}
		if err != nil {
			end.Error = cutText(err.Error(), maxChunk)
		}
		isBusy.Store(false)
		l.send(message{Fetched: end}) // likewise
	})
}
