package launch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// excerpt is what has been added to the log of a rank.
type excerpt struct {
	Name  string `json:"name"` // of the file, such as rank3.log
	Bytes []byte `json:"bytes"`
}

// followEvery is the time between two looks at the logs.
const followEvery = 500 * time.Millisecond

// follower sends what is added to the logs below a folder.
type follower struct {
	folder  string
	send    func(excerpt)
	sent    map[string]int64 // bytes by path
	stop    chan struct{}
	running sync.WaitGroup
}

// follow returns a follower at work, for what is written from now on. Its close sends the rest.
func follow(folder string, send func(excerpt)) *follower {
	f := &follower{folder: folder, send: send, sent: map[string]int64{}, stop: make(chan struct{})}
	f.each(func(path string, e fs.DirEntry) {
		if info, err := e.Info(); err == nil {
			f.sent[path] = info.Size()
		}
	})
	f.running.Go(func() {
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f.look()
			case <-f.stop:
				f.look()
				return
			}
		}
	})
	return f
}

// close sends the rest.
func (f *follower) close() {
	close(f.stop)
	f.running.Wait()
}

// look sends what is new. A file that cannot be read is looked at again.
func (f *follower) look() { f.each(func(path string, _ fs.DirEntry) { f.lookAt(path) }) }

// each calls do for every log below the folder, which may be missing.
func (f *follower) each(do func(path string, e fs.DirEntry)) {
	filepath.WalkDir(f.folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && isLog(e.Name()) {
			do(path, e)
		}
		return nil
	})
}

// isLog reports whether a file has the name of the log of a rank.
func isLog(name string) bool {
	return strings.HasSuffix(name, ".log") &&
		(strings.HasPrefix(name, "rank") || strings.HasPrefix(name, "server")) && filepath.Base(name) == name
}

// lookAt sends what is new in one file.
func (f *follower) lookAt(path string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close() // nothing was written
	from := f.sent[path]
	buffer := make([]byte, maxOutput)
	for {
		n, err := file.ReadAt(buffer, from)
		if n > 0 {
			f.send(excerpt{filepath.Base(path), buffer[:n]})
			from += int64(n)
		}
		f.sent[path] = from
		if err != nil || n == 0 {
			return
		}
	}
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

// add adds to a log.
func (l *Logs) add(e excerpt) {
	if !isLog(e.Name) {
		return // no agent of ours says that
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[e.Name]
	if f == nil {
		var err error
		if f, err = os.OpenFile(filepath.Join(l.folder, e.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
			0o666); err != nil {
			l.err = errors.Join(l.err, err)
			return
		}
		l.files[e.Name] = f
	}
	if _, err := f.Write(e.Bytes); err != nil && l.err == nil {
		l.err = err
	}
	if l.lines == nil {
		return
	}
	text := l.rest[e.Name] + string(e.Bytes)
	for {
		line, rest, isWhole := strings.Cut(text, "\n")
		if !isWhole {
			break
		}
		l.print(e.Name, line)
		text = rest
	}
	l.rest[e.Name] = text
}

// print prints a line of a log.
func (l *Logs) print(name, line string) {
	text := "[" + strings.TrimSuffix(name, ".log") + "] " + line + "\n"
	if _, err := io.WriteString(l.lines, text); err != nil && l.err == nil {
		l.err = err
	}
}

// Close ends the files. The error is the first of writing.
func (l *Logs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, f := range l.files {
		if rest := l.rest[name]; rest != "" {
			l.print(name, rest)
		}
		if err := f.Close(); err != nil && l.err == nil {
			l.err = err
		}
	}
	return l.err
}
