package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"lockstep/cluster"
)

// output is a part of what the command writes.
type output struct {
	Stream int    `json:"stream"` // 1 or 2
	Bytes  []byte `json:"bytes"`
}

// maxOutput is the most bytes of one output.
const maxOutput = 64 << 10

// ended is the end of the command, after all its output.
type ended struct {
	Status int    `json:"status"`           // exit status; 128 and the signal's number after one
	Signal string `json:"signal,omitempty"` // name of the signal that ended it
}

// attempt is what an agent runs for one attempt at a job.
type attempt struct {
	folder  string
	workers *cluster.Agent
	orders  chan cluster.Order // carried out one after the other
	command *exec.Cmd          // of the job, on the first host; nil: not started
	gone    chan struct{}      // the command has ended, and all about it is sent
	socket  net.Conn           // to the command
	reports chan []byte        // for the command
	silent  chan struct{}      // nothing goes to or comes from the socket any more
	done    chan struct{}      // closed by end
}

// begin opens an attempt. The one before must have ended.
func (s *service) begin(b folderAsk) error {
	folder := "."
	if b.Folder != "" {
		var err error
		if folder, err = s.jobFolder(b.Folder); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	a := &attempt{folder: folder, orders: make(chan cluster.Order, queued), done: make(chan struct{})}
	a.workers = cluster.NewAgent(folder, s.Environment, func(r cluster.Report) {
		if text, err := json.Marshal(r); err == nil {
			s.line.send(message{Envelope: &cluster.Envelope{Report: text}})
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempt != nil || s.isEnding {
		return errors.New("agent: an attempt is under way")
	}
	s.attempt = a
	go func() {
		for {
			select {
			case o := <-a.orders:
				a.workers.Do(o)
			case <-a.done:
				return
			}
		}
	}()
	return nil
}

// endAttempt kills everything that the attempt has started, and returns when it has ended.
func (s *service) endAttempt() {
	s.mu.Lock()
	a := s.attempt
	s.attempt = nil
	s.mu.Unlock()
	if a == nil {
		return
	}
	close(a.done)
	if a.command != nil {
		cluster.KillGroup(a.command.Process)
		a.socket.Close()
		<-a.gone
		<-a.silent
	}
	a.workers.Close()
}

// current returns the attempt that is under way, or nil.
func (s *service) current() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempt
}

// route passes an envelope of the console on: an order to this host's workers, or a report to the command.
func (s *service) route(e cluster.Envelope) error {
	a := s.current()
	switch {
	case a == nil:
		return nil // about an attempt that has ended
	case e.Order != nil:
		o, err := cluster.ParseOrder(e.Order)
		if err != nil {
			return err
		}
		select {
		case a.orders <- o:
			return nil
		default:
			return errors.New("too many orders at once")
		}
	case a.command == nil:
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	select {
	case a.reports <- append(text, '\n'):
	case <-a.gone:
	default:
		cluster.KillGroup(a.command.Process) // it reads no reports any more
	}
	return nil
}

// start starts the command of the job, with a connection over which it sends orders to other hosts.
func (s *service) start(c startAsk) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	mine, theirs, err := cluster.AgentConnection()
	if err != nil {
		return err
	}
	defer theirs.Close() // the child has its own descriptor
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.attempt
	if a == nil || a.command != nil {
		mine.Close()
		return errors.New("agent: no attempt has begun, or its command was started before")
	}
	command := exec.Command(program, c.Arguments...)
	command.Dir = a.folder
	const firstExtra = 3
	command.Env = s.Environment.With(c.Environment).With(cluster.Environment{
		cluster.EnvAgent: fmt.Sprint(firstExtra)}).Pairs()
	command.ExtraFiles = []*os.File{theirs}
	command.Stdout, command.Stderr = tap{s.line, 1}, tap{s.line, 2}
	command.WaitDelay = time.Second // for what another process still holds open
	a.socket, a.reports, a.gone = mine, make(chan []byte, reportsQueued), make(chan struct{})
	a.silent = make(chan struct{})
	if err := cluster.StartChild(command, func(error) { s.finish(a, command) }); err != nil {
		mine.Close()
		return err
	}
	a.command = command
	go s.converse(a)
	for _, f := range s.claims {
		if err := keepResults(f); err != nil {
			return err
		}
	}
	return nil
}

// reportsQueued is how many reports wait for a command that does not read. Each process of another host has
// some, and those of a long log more.
const reportsQueued = 4096

// finish tells the console that the command has ended.
func (s *service) finish(a *attempt, command *exec.Cmd) {
	s.line.send(message{Exit: endOf(command.ProcessState)})
	a.socket.Close()
	close(a.gone)
}

// converse passes orders of the command to the console, and reports to the command, until it has ended.
func (s *service) converse(a *attempt) {
	var both sync.WaitGroup
	both.Go(func() {
		reader := bufio.NewReaderSize(a.socket, cluster.MaxOrder)
		for {
			var e cluster.Envelope
			if cluster.ReadLine(reader, &e) != nil {
				return // the command has ended
			}
			s.line.send(message{Envelope: &e})
		}
	})
	both.Go(func() {
		for {
			select {
			case text := <-a.reports:
				if _, err := a.socket.Write(text); err != nil {
					return
				}
			case <-a.gone:
				return
			}
		}
	})
	both.Wait()
	close(a.silent)
}

// signal passes a signal on to the command.
func (s *service) signal(name string) {
	if a := s.current(); a != nil && a.command != nil {
		if number, ok := signalNamed(name); ok {
			a.command.Process.Signal(number) // an error means that it has ended
		}
	}
}

// tap sends what the command writes to the console.
type tap struct {
	line   *line
	number int
}

// Write sends p in parts. It blocks while the console does not read.
func (w tap) Write(p []byte) (int, error) {
	for sent := 0; sent < len(p); sent += maxOutput {
		part := p[sent:min(len(p), sent+maxOutput)]
		if err := w.line.send(message{Output: &output{w.number, part}}); err != nil {
			return sent, err
		}
	}
	return len(p), nil
}
