package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// install waits until the host answers, and until it has the program for its platform, whose hash it returns.
func (c Console) install(ctx context.Context, h Host, p *carrier, l *line) (hash string, err error) {
	uname, err := c.answer(ctx, h, p, l)
	if err != nil {
		return "", err
	}
	late, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	defer context.AfterFunc(late, p.kill)()
	program, err := c.program(platformOf(uname))
	if err != nil {
		return "", &HostError{Host: h.Name, Text: err.Error()}
	}
	word, err := c.offer(h, program, p.in, l)
	switch {
	case err != nil:
		p.close()
		return "", &HostError{Host: h.Name, Text: "the connection has ended while the program was being " +
			"copied" + said(p.words.LastLine()), Err: err}
	case word != "here":
		return "", &HostError{Host: h.Name, Text: "the program could not be copied to it: " + word}
	}
	return program.hash, nil
}

// copyTime is the time in which a host has to take the program.
const copyTime = 10 * time.Minute

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
func (c Console) offer(h Host, program binary, to io.Writer, l *line) (string, error) {
	if _, err := fmt.Fprintf(to, "%s %d\n", program.hash, program.size); err != nil {
		return "", err
	}
	word, err := l.word("send", "here")
	if err != nil || word != "send" {
		return word, err
	}
	c.Notice(fmt.Sprintf("host %s: copying the program, %d MiB", h.Name, program.size>>20))
	return program.send(to, l)
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
func (b binary) send(to io.Writer, l *line) (string, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return "", err
	}
	defer f.Close() // nothing was written
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(to, f, b.size)
		sent <- err
	}()
	word, err := l.word("here")
	if err == nil && word == "here" {
		err = <-sent // else the host does not read on
	}
	return word, err
}
