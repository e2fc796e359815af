package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"unicode/utf8"

	"lockstep/comm/shm"
)

// Agent carries out the orders of a launcher on another host: it starts processes there, with the shared
// memory that links them, and reports how they end. It is safe for concurrent use.
//
// Each process runs in the agent's folder, which also has its log, and ends at the latest with the agent.
type Agent struct {
	folder      string
	environment Environment
	post        func(Report)
	posting     sync.Mutex
	ended       sync.WaitGroup // one per launch

	mu       sync.Mutex
	launches map[string]*launched // by name; nil after Close
}

// launched is the processes of one launch on an agent's host.
type launched struct {
	fleet   *localFleet
	indices map[int]int    // in the fleet, by rank
	logs    map[int]string // paths by rank
	killed  map[int]bool   // by rank: by an order
}

// NewAgent returns an agent for this host. Its processes work in folder, which must exist, with environment e
// and what an order adds to it. It calls post with one report at a time, from goroutines of its own.
func NewAgent(folder string, e Environment, post func(Report)) *Agent {
	return &Agent{folder: folder, environment: e, post: post, launches: map[string]*launched{}}
}

// Do carries out an order. It returns when processes to start have started; what comes of the order is
// reported. An order about a process that has ended does nothing.
func (a *Agent) Do(o Order) {
	if err := o.check(); err != nil {
		a.report(Report{Run: o.Run, Refused: err.Error()})
		return
	}
	if o.Start != nil {
		if err := a.start(o.Run, *o.Start); err != nil {
			a.report(Report{Run: o.Run, Refused: err.Error()})
		}
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.launches[o.Run]
	if l == nil {
		return
	}
	switch {
	case o.KillAll:
		l.kill()
	case o.Kill != nil:
		l.killOne(*o.Kill)
	case o.Quit != nil:
		if i, ok := l.indices[*o.Quit]; ok {
			l.fleet.quit(i)
		}
	}
}

// Close kills all processes and returns when they have ended. What comes of later orders is not reported; the
// call of post that is under way must return.
func (a *Agent) Close() {
	a.mu.Lock()
	for _, l := range a.launches {
		l.kill()
	}
	a.launches = nil
	a.mu.Unlock()
	a.ended.Wait()
}

// kill kills all processes. Their logs are of no interest.
func (l *launched) kill() {
	for rank := range l.indices {
		l.killOne(rank)
	}
}

func (l *launched) killOne(rank int) {
	if i, ok := l.indices[rank]; ok {
		l.killed[rank] = true
		l.fleet.killOne(i)
	}
}

// report posts a report.
func (a *Agent) report(r Report) {
	a.posting.Lock()
	defer a.posting.Unlock()
	a.post(r)
}

// start starts the processes of a launch.
func (a *Agent) start(run string, s Start) error {
	processes, err := a.processes(s)
	if err != nil {
		return err
	}
	if s.SharesMemory && len(processes) > 1 {
		segment, err := shm.Create(len(processes))
		if err != nil {
			return err
		}
		defer segment.Close() // the children have their own descriptors
		for i := range processes {
			processes[i].segment = segment
		}
	}
	return a.launch(run, s.Processes, processes)
}

// launch starts the processes and registers them.
func (a *Agent) launch(run string, asked []StartProcess, processes []process) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.launches == nil:
		return errors.New("the agent is ending")
	case a.launches[run] != nil:
		return fmt.Errorf("launch %s has been started before", run)
	}
	l := &launched{indices: map[int]int{}, logs: map[int]string{}, killed: map[int]bool{}}
	for i, p := range asked {
		l.indices[p.Rank], l.logs[p.Rank] = i, processes[i].log
	}
	var err error
	if l.fleet, err = startFleet(processes, func(e event) {
		a.reportExit(run, l, asked[e.rank].Rank, e.exit)
	}); err != nil {
		return err
	}
	a.launches[run] = l
	a.ended.Go(func() {
		l.fleet.wait()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.launches, run)
	})
	return nil
}

// processes returns what a start asks for as processes of this host, and makes the folders of their logs.
func (a *Agent) processes(s Start) ([]process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to start it: %w", err)
	}
	folder, err := filepath.Abs(a.folder)
	if err != nil {
		return nil, err
	}
	processes := make([]process, len(s.Processes))
	threads := make([]int, len(s.Processes))
	for i, p := range s.Processes {
		rank := strconv.Itoa(p.Rank)
		processes[i] = process{name: p.Name, command: append([]string{program}, p.Arguments...),
			log: filepath.Join(folder, filepath.FromSlash(p.Log)), folder: folder,
			environment: a.environment.With(s.Environment).With(Environment{
				EnvRank: rank, envTorchRank: rank, envControl: "", envSegment: "", EnvAgent: ""})}
		threads[i] = p.Threads
		if err := os.MkdirAll(filepath.Dir(processes[i].log), 0o777); err != nil {
			return nil, err
		}
	}
	for i, list := range assign(processors(), threads) {
		processes[i].processors = list
	}
	return processes, nil
}

// reportExit reports how a process has ended, after the end of its log if it did not end well.
func (a *Agent) reportExit(run string, l *launched, rank int, x *exit) {
	a.mu.Lock()
	isKilled := l.killed[rank]
	a.mu.Unlock()
	a.posting.Lock()
	defer a.posting.Unlock()
	if !isKilled && (x.signal != "" || x.status != 0) {
		for text := range chunks(lastOf(l.logs[rank], maxOutput), maxChunk) {
			a.post(Report{Run: run, Output: &Output{Rank: rank, Path: l.logs[rank], Text: text}})
		}
	}
	a.post(Report{Run: run, Exit: &Exit{Rank: rank, PID: x.pid, Signal: x.signal, Status: x.status,
		Text: cutText(x.text, maxChunk), Cause: x.cause}})
}

const (
	maxOutput = 256 << 10 // of a log that is reported; the stacks of some hundred goroutines
	maxChunk  = 8 << 10   // of a report; as JSON, with six bytes for one, it fits a line
)

// lastOf returns the end of a file; nothing if it cannot be read.
func lastOf(path string, most int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, _ := io.ReadAll(io.LimitReader(f, most)) // what can be read helps
	return string(text)
}

// chunks iterates over the parts of text of at most size bytes, which keep its characters whole.
func chunks(text string, size int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			part := cutText(text, size)
			text = text[len(part):]
			if !yield(part) {
				return
			}
		}
	}
}

// cutText returns the beginning of text, at most size bytes, without a part of a character at its end.
func cutText(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for end := size; end > size-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:size] // it is no UTF-8
}
