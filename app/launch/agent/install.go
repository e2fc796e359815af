package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// install waits until the host answers, and until it has the program for its platform, whose hash it returns.
func (c Console) install(ctx context.Context, h Host, p *carrier, l *line) (hash string, err error) {
	uname, err := c.answer(ctx, h, p, l)
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, p.kill)()
	program, err := c.program(platformOf(uname))
	if err != nil {
		return "", &HostError{Host: h.Name, Text: err.Error()}
	}
	moves := c.watch(p)
	word, err := c.offer(h, program, p.in, l, moves)
	isStalled := moves.end()
	switch {
	case isStalled:
		p.close()
		return "", &HostError{Host: h.Name, Text: fmt.Sprintf("no byte of the program has got through for "+
			"%v: its disk, its shell or the connection hangs", moves.limit)}
	case err != nil:
		p.close()
		return "", &HostError{Host: h.Name, Text: "the connection has ended while the program was being " +
			"copied" + said(p.words.last()), Err: err}
	case word != "here":
		return "", explainCopy(h, word)
	}
	return program.hash, nil
}

// answer waits for the first words of the host, which say what platform it has.
func (c Console) answer(ctx context.Context, h Host, p *carrier, l *line) (uname string, err error) {
	late, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	stop := context.AfterFunc(late, p.kill)
	uname, err = l.word("host")
	if stop() && err == nil {
		return uname, nil
	}
	if errors.Is(err, errChatter) {
		p.kill() // ssh ends with what it runs, which may go on for ever
		return "", &HostError{Host: h.Name, Text: err.Error()}
	}
	p.close() // what has ended its output may go on, too
	return "", explain(h, p, l.chatter, late.Err() != nil)
}

// offer names the program to the host and sends it if it is not there. It returns the last word of the host.
func (c Console) offer(h Host, program binary, to io.Writer, l *line, moves *movement) (string, error) {
	if _, err := fmt.Fprintf(to, "%s %d\n", program.hash, program.size); err != nil {
		return "", err
	}
	word, err := l.word("send", "here")
	if err != nil || word != "send" {
		return word, err
	}
	c.Notice(fmt.Sprintf("host %s: copying the program, %d MiB", h.Name, program.size>>20))
	return program.send(to, l, moves)
}

// maxSaid bounds what is kept of a line that a host prints, in bytes.
const maxSaid = 200

// word reads what the script says next: the text behind lockstep-NAME, or NAME itself if there is none. What
// the user's shell prints before is skipped.
func (l *line) word(names ...string) (string, error) {
	for skipped := 0; skipped < maxChatter; {
		text, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", errChatter
		}
		if err != nil {
			return "", err
		}
		skipped += len(text)
		if line := strings.TrimSpace(string(text)); line != "" {
			l.chatter = strings.ToValidUTF8(line[:min(len(line), maxSaid)], "")
		}
		for _, name := range append(names, "failed") {
			rest, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("lockstep-"+name))
			if !ok {
				continue
			}
			if rest := bytes.TrimSpace(rest); len(rest) > 0 {
				return string(rest), nil
			}
			return name, nil
		}
	}
	return "", errChatter
}

// send sends the program and waits for the answer.
func (b binary) send(to io.Writer, l *line, moves *movement) (string, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return "", err
	}
	defer f.Close() // nothing was written
	began, sent := time.Now(), make(chan error, 1)
	go func() {
		_, err := io.CopyN(moves.writer(to), f, b.size)
		moves.noted(time.Since(began)) // what ssh still holds needs no longer than what it has passed on
		sent <- err
	}()
	word, err := l.word("here")
	if err == nil && word == "here" {
		err = <-sent // else the host does not read on
	}
	return word, err
}

// stallTime is how long nothing may move while a program is installed or results are fetched. ssh takes a
// few bytes more at least every 96 KiB that the host has read: 3.2 KiB/s are enough.
const stallTime = 30 * time.Second

// movement kills a carrier over which nothing moves for a time.
type movement struct {
	limit time.Duration
	timer *time.Timer

	mu        sync.Mutex
	isEnded   bool
	isStalled bool
}

// watch returns the movement of a carrier, to be ended.
func (c Console) watch(p *carrier) *movement {
	m := &movement{limit: cmp.Or(c.stallTime, stallTime)}
	m.timer = time.AfterFunc(m.limit, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.isEnded {
			m.isStalled, m.isEnded = true, true
			p.kill()
		}
	})
	return m
}

// noted notes that something has moved. The next time may be longer by more.
func (m *movement) noted(more time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isEnded {
		m.timer.Reset(m.limit + more)
	}
}

// pause lets any time pass until something is noted.
func (m *movement) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer.Stop() // if it is about to kill, it does
}

// end reports whether the carrier was killed. If not, it is left alone from now on.
func (m *movement) end() (isStalled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isEnded = true
	m.timer.Stop()
	return m.isStalled
}

// writer returns a writer whose bytes are movement.
func (m *movement) writer(to io.Writer) io.Writer { return movingWriter{to, m} }

type movingWriter struct {
	to    io.Writer
	moves *movement
}

// Write writes a few bytes at a time, so that a slow link moves often.
func (w movingWriter) Write(p []byte) (int, error) {
	const few = 4 << 10
	written := 0
	for written < len(p) {
		n, err := w.to.Write(p[written:min(len(p), written+few)])
		if written += n; err != nil {
			return written, err
		}
		w.moves.noted(0)
	}
	return written, nil
}
