package host

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

// listEvery is the time after which the threads are listed again although Go's runtime has made none.
const listEvery = time.Second

// tasks are the threads of this process, with their open schedstat files. An ended thread keeps its share.
type tasks struct {
	open   map[string]*task
	made   int // by Go's runtime, when they were listed
	listed time.Time
	sum    time.Duration
	buffer [96]byte
}

type task struct {
	file   *os.File
	waited time.Duration
}

// list opens the files of new threads.
func (s *tasks) list() {
	const folder = "/proc/self/task/"
	if s.open == nil {
		s.open = map[string]*task{}
	}
	s.made, _ = runtime.ThreadCreateProfile(nil)
	s.listed = time.Now()
	list, _ := os.ReadDir(folder) // without proc none
	for _, e := range list {
		if s.open[e.Name()] != nil {
			continue
		}
		if f, err := os.Open(folder + e.Name() + "/schedstat"); err == nil { // else it has ended
			s.open[e.Name()] = &task{file: f}
		}
	}
}

// waited returns for how long threads were ready to run and had no core so far, summed over them.
func (s *tasks) waited() time.Duration {
	if made, _ := runtime.ThreadCreateProfile(nil); made != s.made || time.Since(s.listed) > listEvery {
		s.list()
	}
	for name, t := range s.open {
		n, err := t.file.ReadAt(s.buffer[:], 0)
		if n == 0 && err != nil { // it has ended
			t.file.Close()
			delete(s.open, name)
			continue
		}
		if waited := waitedOf(s.buffer[:n]); waited > t.waited {
			s.sum += waited - t.waited
			t.waited = waited
		}
	}
	return s.sum
}

// close closes the files.
func (s *tasks) close() {
	for _, t := range s.open {
		t.file.Close()
	}
	s.open = nil
}

// waitedOf returns for how long a thread waited by its schedstat: the second number, in nanoseconds.
func waitedOf(stat []byte) time.Duration {
	_, rest, _ := bytes.Cut(stat, []byte(" "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	waited, _ := strconv.ParseInt(string(number), 10, 64)
	return time.Duration(waited)
}
