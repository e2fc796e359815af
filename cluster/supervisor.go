package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// verdictDelay is how long a survivor's report of a lost peer waits for the cause.
	verdictDelay = time.Second
	// stopGrace is how long workers may usually take to end, before they are killed.
	stopGrace = 3 * time.Second
	// silentLooks is after how many looks at who has reported a silent worker is taken for stuck.
	silentLooks = 10
)

// worker is what the supervisor knows about one rank.
type worker struct {
	line     *line // nil until it joined
	hello    Hello
	progress Progress
	result   json.RawMessage
	failure  *Failure
	silent   int   // looks since it was last heard
	lost     bool  // its connection has ended: nothing more will be heard
	exit     *exit // nil while its process runs
}

// supervisor follows the workers of one run. All its state belongs to the goroutine of supervise.
type supervisor struct {
	LaunchConfig
	job     json.RawMessage
	meeting *coordinator
	fleet   *fleet
	events  <-chan event
	workers []worker
	joined  int
	done    int // results received
	running int // processes not yet ended

	err     error            // why the run ends early
	verdict <-chan time.Time // when a noticed loss becomes the verdict; nil: none pending
	noticed *WorkerError
	grace   <-chan time.Time // when what still runs is killed
}

func (s *supervisor) supervise(ctx context.Context) error {
	stop := ctx.Done()
	join := time.NewTimer(s.JoinTimeout)
	defer join.Stop()
	look := time.NewTicker(s.SilenceTimeout / silentLooks)
	defer look.Stop()
	for s.running > 0 || s.isUnread() {
		select {
		case e := <-s.events:
			s.handle(e)
		case <-join.C:
			if s.joined < s.World && s.err == nil {
				s.abort(s.absent())
			}
		case <-look.C:
			s.listen()
		case <-s.verdict:
			s.verdict = nil
			s.abort(s.noticed)
		case <-s.grace:
			s.grace = nil
			s.fleet.kill()
		case <-stop:
			stop = nil
			s.stop(ctx.Err())
		}
	}
	if s.err == nil && s.noticed != nil {
		return s.noticed
	}
	return s.err
}

// isUnread reports whether a process has ended well before its last words, a result or a failure,
// have been read from its connection.
func (s *supervisor) isUnread() bool {
	return s.err == nil && slices.ContainsFunc(s.workers, func(w worker) bool {
		return w.exit != nil && w.line != nil && !w.lost && w.result == nil && w.failure == nil
	})
}

// abort ends the run because of err, unless it already ends.
func (s *supervisor) abort(err error) {
	if s.err == nil {
		s.err = err
		s.fleet.kill()
	}
}

// stop asks the workers to end; those that have not joined cannot hear it and are killed.
func (s *supervisor) stop(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	s.grace = time.After(s.StopGrace)
	if s.joined < s.World {
		s.fleet.kill()
		return
	}
	for _, w := range s.workers {
		w.line.send(message{Stop: true}) // a worker that does not hear it is killed
	}
}

func (s *supervisor) handle(e event) {
	w := &s.workers[e.rank]
	w.silent = 0
	switch {
	case e.exit != nil:
		s.running--
		w.exit = e.exit
		s.judge(e.rank)
	case e.message.Hello != nil:
		s.welcome(e)
	case w.line != e.line:
		// A connection that was refused as a duplicate has nothing to say.
	case e.lost != nil:
		w.lost = true
		s.judge(e.rank)
	case e.message.Progress != nil:
		w.progress = *e.message.Progress
		if s.Progress != nil {
			s.Progress(e.rank, w.progress)
		}
	case e.message.Event != nil:
		if s.Event == nil {
			return
		}
		if err := s.Event(e.rank, e.message.Event); err != nil {
			s.abort(err)
		}
	case e.message.Result != nil:
		s.finish(w, e.message.Result)
	case e.message.Failure != nil:
		w.failure = e.message.Failure
		s.judge(e.rank)
	}
}

// listen ends the run if a worker that trains has not been heard for long: it is stopped, or its
// machine stands still. Looks are counted, not the time: a launcher that was itself stopped for a
// while first hears what has come meanwhile.
func (s *supervisor) listen() {
	for rank := range s.workers {
		w := &s.workers[rank]
		if w.progress.Steps == 0 || w.result != nil || w.lost {
			continue
		}
		if w.silent++; w.silent > silentLooks {
			e := s.describe(rank)
			e.Silence = s.SilenceTimeout
			s.abort(e)
			return
		}
	}
}

// finish notes a result; when all are in, what does not end by itself is killed.
func (s *supervisor) finish(w *worker, result json.RawMessage) {
	if w.result == nil {
		s.done++
	}
	w.result = result
	if s.done == s.World {
		s.grace = time.After(stopGrace)
	}
}

// welcome takes a worker in and, when it is the last, lets all of them begin.
func (s *supervisor) welcome(e event) {
	w := &s.workers[e.rank]
	if w.line != nil {
		e.line.send(message{Refused: fmt.Sprintf("rank %d has already joined", e.rank)})
		return
	}
	w.line, w.hello = e.line, *e.message.Hello
	if s.joined++; s.joined < s.World {
		return
	}
	s.meeting.full()
	welcome := Welcome{Addresses: make([]string, s.World), Hosts: make([]string, s.World), Job: s.job}
	for rank, w := range s.workers {
		welcome.Addresses[rank], welcome.Hosts[rank] = w.hello.Listen, w.hello.Host
	}
	isa, err := s.commonISA()
	if err != nil {
		s.abort(err)
		return
	}
	welcome.ISA = isa
	for rank := range s.workers {
		if err := s.workers[rank].line.send(message{Welcome: &welcome}); err != nil {
			s.abort(&RendezvousError{Op: "welcome", Addr: s.workers[rank].hello.Host, Err: err})
		}
	}
}

// commonISA returns the best kernel path that every worker has.
func (s *supervisor) commonISA() (string, error) {
	common := s.workers[0].hello.ISA
	for _, w := range s.workers[1:] {
		common = slices.DeleteFunc(slices.Clone(common), func(isa string) bool {
			return !slices.Contains(w.hello.ISA, isa)
		})
	}
	if s.ISA != "" && slices.Contains(common, s.ISA) {
		return s.ISA, nil
	}
	if s.ISA != "" || len(common) == 0 {
		return "", &RendezvousError{Op: "agree on a kernel path at",
			Addr: s.meeting.address().String(),
			Err:  fmt.Errorf("asked for %q, all workers have %q", s.ISA, common)}
	}
	return common[len(common)-1], nil
}

// judge decides whether what is known about a rank ends the run. The process's exit and what it
// said last arrive independently, so an exit counts once the connection has been read to its end.
func (s *supervisor) judge(rank int) {
	w := &s.workers[rank]
	silent := w.exit != nil && (w.line == nil || w.lost)
	switch {
	case s.err != nil || w.result != nil:
	case w.failure != nil && w.failure.Noticed:
		if s.noticed == nil {
			s.noticed = s.describe(rank)
			s.verdict = time.After(verdictDelay)
		}
	case w.failure != nil || silent:
		s.abort(s.describe(rank))
	}
}

// describe puts together what is known about the end of a rank.
func (s *supervisor) describe(rank int) *WorkerError {
	w := &s.workers[rank]
	e := &WorkerError{Rank: rank, PID: s.fleet.commands[rank].Process.Pid, Host: w.hello.Host,
		Step: w.progress.Step, Phase: w.progress.Phase}
	log := s.Log(rank)
	if info, err := os.Stat(log); err == nil && info.Size() > 0 && w.failure == nil {
		e.Log = log // where it says more than the report, or anything
	}
	if e.Host == "" {
		e.Host, _ = os.Hostname() // "": then the message names none
	}
	switch {
	case w.failure != nil:
		e.Reported, e.Status, e.Text = true, w.failure.Status, w.failure.Text
	case w.exit != nil:
		e.Signal, e.Status = w.exit.signal, w.exit.status
		e.Text = tellingLine(log, e.Signal == "")
	}
	return e
}

// absent names the ranks that have not joined.
func (s *supervisor) absent() error {
	var missing []string
	for rank := range s.workers {
		if s.workers[rank].line == nil {
			missing = append(missing, strconv.Itoa(rank))
		}
	}
	return &RendezvousError{Op: "wait at", Addr: s.meeting.address().String(),
		Err: fmt.Errorf("%d of %d workers joined within %v; missing ranks: %s",
			s.joined, s.World, s.JoinTimeout, strings.Join(missing, ", "))}
}

// tellingLine returns the line of a log that says most about a sudden end: the head of what the
// Go runtime writes when it gives up or, if orLast, the last line.
func tellingLine(path string, orLast bool) string {
	const tail = 1 << 20 // more than the stacks of a thousand goroutines
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	text = bytes.TrimSpace(text[max(0, len(text)-tail):])
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"panic: ", "fatal error: ", "SIG"} {
			if strings.HasPrefix(line, head) {
				return line
			}
		}
		if orLast {
			last = line
		}
	}
	return last
}
