package agent

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lockstep/internal/tail"
)

// Note: logs of ranks
//
// Processes write what they print to a file of their host. The agent there follows the files and sends what
// is new to the console, which writes it to files of the same names.

// followEvery is the time between two looks at the logs.
const followEvery = 500 * time.Millisecond

// follow sends what is added from now on to the logs below a folder, under the names of their files alone.
func follow(folder string, send func(tail.Part)) *tail.Follower {
	return tail.Follow(tail.Config{Folder: folder, Every: followEvery, Bytes: maxOutput, FromNow: true,
		Takes: func(name string) bool { return isLog(path.Base(name)) },
		Send: func(p tail.Part) {
			p.Name = path.Base(p.Name)
			send(p)
		}})
}

// isLog reports whether a file has the name of the log of a rank.
func isLog(name string) bool {
	return strings.HasSuffix(name, ".log") &&
		(strings.HasPrefix(name, "rank") || strings.HasPrefix(name, "server")) && filepath.Base(name) == name
}

// Logs writes the logs of ranks to files in a folder, and if asked also line by line elsewhere. Close it.
type Logs struct {
	folder string
	lines  io.Writer // nil: none

	mu    sync.Mutex
	files map[string]*os.File
	rest  map[string]string // of each, the beginning of a line
	err   error             // the first
}

// NewLogs returns logs in a folder, which is made. Lines, if not nil, gets each line behind the name of its
// rank.
func NewLogs(folder string, lines io.Writer) (*Logs, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	return &Logs{folder: folder, lines: lines, files: map[string]*os.File{}, rest: map[string]string{}}, nil
}

// add adds to the log of a rank.
func (l *Logs) add(p tail.Part) {
	if !isLog(p.Name) {
		return // no agent of ours says that
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.file(p.Name)
	if err == nil {
		_, err = f.Write(p.Bytes)
	}
	l.note(err)
	if l.lines == nil {
		return
	}
	text := l.rest[p.Name] + string(p.Bytes)
	for {
		line, rest, isWhole := strings.Cut(text, "\n")
		if !isWhole {
			break
		}
		l.print(p.Name, line)
		text = rest
	}
	l.rest[p.Name] = text
}

// file returns the file of a log, which it opens once.
func (l *Logs) file(name string) (*os.File, error) {
	if f := l.files[name]; f != nil {
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(l.folder, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err == nil {
		l.files[name] = f
	}
	return f, err
}

// note keeps the first error.
func (l *Logs) note(err error) {
	if l.err == nil {
		l.err = err
	}
}

// print prints a line of a log.
func (l *Logs) print(name, line string) {
	text := "[" + strings.TrimSuffix(name, ".log") + "] " + line + "\n"
	_, err := io.WriteString(l.lines, text)
	l.note(err)
}

// Close ends the files. The error is the first of writing.
func (l *Logs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, f := range l.files {
		if rest := l.rest[name]; rest != "" {
			l.print(name, rest)
		}
		l.note(f.Close())
	}
	return l.err
}
