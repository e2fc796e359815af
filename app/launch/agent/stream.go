package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Stream starts a command of this program on the host of a connection, over an ssh of its own, and returns
// its standard input and output: many bytes would keep the agent's lines waiting. Closing the stream ends
// the command, and so does the end of ctx. The arguments are words without quotes or spaces.
func (c Console) Stream(ctx context.Context, a *Connection, arguments ...string) (io.ReadWriteCloser, error) {
	argv, e := append([]string{c.Program}, arguments...), c.Environment
	isAway := !IsHere(a.Host.Name)
	if isAway {
		argv, e = c.ssh(a.Host, "exec /bin/sh -c '"+installed(a.Hello.Hash, arguments)+"'"), c.environment()
	}
	p, err := carry(argv, e)
	if err != nil {
		return nil, &HostError{Host: a.Host.Name, Text: "start " + argv[0], Err: err}
	}
	stop := context.AfterFunc(ctx, p.kill)
	s := &stream{carrier: p, reader: bufio.NewReader(p.out), isBegun: !isAway}
	s.end = sync.OnceFunc(func() { stop(); p.close() })
	return s, nil
}

// installed is a script that becomes the program that Dial has installed, with these arguments.
func installed(hash string, arguments []string) string {
	return oneLine(bootstrapFolder + `echo; echo ` + beginning + `; exec "$b/` + hash + `/lockstep" ` +
		strings.Join(arguments, " "))
}

// stream is the standard input and output of a process.
type stream struct {
	*carrier
	reader  *bufio.Reader
	isBegun bool // the output of the process is the next to read
	end     func()
}

// beginning is the line before the output of the process. The user's shell may print something before.
const beginning = "lockstep-begins"

// maxChatter is the most bytes that a user's shell may print.
const maxChatter = 1 << 20

// skip reads up to the output of the process.
func (s *stream) skip() error {
	for n := 0; n < maxChatter; {
		text, err := s.reader.ReadSlice('\n')
		if string(text) == beginning+"\n" {
			return nil
		}
		if n += len(text); err != nil && err != bufio.ErrBufferFull {
			return err
		}
	}
	return errChatter
}

// Read reads the output of the process. At its end the error has the last words of the process, if there
// are any by then.
func (s *stream) Read(p []byte) (n int, err error) {
	if !s.isBegun {
		err = s.skip()
		s.isBegun = err == nil
	}
	if err == nil {
		n, err = s.reader.Read(p)
	}
	if err == io.EOF && s.words.LastLine() != "" {
		err = fmt.Errorf("%w%s", io.ErrUnexpectedEOF, said(s.words.LastLine()))
	}
	return n, err
}

// Write writes to the input of the process.
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the process.
func (s *stream) Close() error {
	s.end()
	return nil
}
