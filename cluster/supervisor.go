package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// verdictDelay is how long a report of a lost peer waits for the cause of the loss.
	verdictDelay = time.Second
	// newsDelay is the same if the lost process is on another host, whose agent may need a while to get the
	// news of its end across.
	newsDelay = 3 * time.Second
	// stopGrace is the default time for workers to end before they are killed.
	stopGrace = 3 * time.Second
	// endGrace is how long the survivors of a failure may take to write down its cause and end, before
	// they are killed.
	endGrace = 2 * time.Second
	// maxTold is how many bytes of a worker's report the launcher and the others are told.
	maxTold = 16 << 10
	// accountDelay is how long the error about a death waits for the survivors' reports.
	accountDelay = 500 * time.Millisecond
)

// worker is the supervisor's state of one rank.
type worker struct {
	line     *line // nil until it joined
	hello    Hello
	result   json.RawMessage
	failure  *Failure
	lost     bool  // its connection has ended: no more messages
	spared   bool  // the run goes on without it
	exit     *exit // nil while its process runs
	hasBegun bool  // it was told that all have joined
	hasLeft  bool  // it is a guest and does no work any more
}

// supervisor supervises the workers of one run. All its state belongs to the goroutine of
// supervise.
type supervisor struct {
	LaunchConfig
	hosts   []string // by rank, those of the lab or the roster; nil: this machine
	job     json.RawMessage
	meeting *coordinator
	fleet   fleet
	events  <-chan event
	workers []worker
	vitals  []vitals // of the workers
	looks   int      // number of checks
	// welcomed is when all had joined; hasNotedPulses says that missing datagrams were looked for.
	welcomed       time.Duration
	hasNotedPulses bool
	joined         int
	done           int   // results received
	refused        error // why a process may not join, of the last one

	err     error            // why the run ends early
	stopped *StopError       // the same, if it was asked to
	asked   time.Duration    // when that was, in checks
	verdict <-chan time.Time // when the suspect becomes err, or nil
	suspect *WorkerError
	isDeath bool             // the suspect's process has ended: no other cause is expected
	grace   <-chan time.Time // when the remaining processes are killed

	isSaving bool // savesStill when the grace period was last over
}

func (s *supervisor) supervise(ctx context.Context) error {
	stop := ctx.Done()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for s.isAnyWorking() || s.isUnread() {
		select {
		case e := <-s.events:
			s.handle(e)
		case <-look.C:
			s.look()
		case <-s.verdict:
			s.verdict = nil
			s.convict()
		case <-s.grace:
			s.grace = nil
			s.expire()
		case <-stop:
			stop = nil
			s.stop(ctx.Err())
		}
	}
	if s.suspect != nil {
		s.convict()
	}
	if s.stopped != nil {
		for rank := range s.vitals {
			s.stopped.Step = max(s.stopped.Step, s.vitals[rank].beat.Step)
		}
		if s.isComplete() {
			return nil // it was asked too late
		}
	}
	return s.err
}

// isAnyWorking reports whether a process that was started here runs, or a guest that was told to begin has
// not left.
func (s *supervisor) isAnyWorking() bool {
	for rank := range s.workers {
		w := &s.workers[rank]
		if s.isGuest(rank) && w.hasBegun && !w.hasLeft || !s.isGuest(rank) && w.exit == nil {
			return true
		}
	}
	return false
}

// isComplete reports whether all workers came to the end of the run.
func (s *supervisor) isComplete() bool {
	return s.done == s.World && !slices.ContainsFunc(s.workers, func(w worker) bool {
		return w.result == nil && !w.spared
	})
}

// isUnread reports whether a process has ended successfully before its last message, a result or a
// failure, was read from its connection.
func (s *supervisor) isUnread() bool {
	return (s.err == nil || s.stopped != nil) && slices.ContainsFunc(s.workers, func(w worker) bool {
		return w.exit != nil && w.line != nil && !w.lost && !w.spared && w.result == nil && w.failure == nil
	})
}

// abort ends the run with err, unless it is already ending. If a worker is the cause, the others are told
// and end by themselves; they are killed if they do not.
func (s *supervisor) abort(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	cause := (*WorkerError)(nil)
	if errors.As(err, &cause) && s.isWelcomed() {
		s.announce(cause)
		s.grace = time.After(endGrace)
		return
	}
	s.fleet.kill()
	s.dismiss()
	if s.grace == nil {
		s.grace = time.After(stopGrace)
	}
}

// announce tells every worker why the run ends, also the one that is the cause: it may be cut off in one
// direction only, or go on later. It is killed if it cannot end by itself.
func (s *supervisor) announce(cause *WorkerError) {
	if cause.State != "" || cause.Stuck > 0 {
		s.killOne(cause.Rank)
	}
	verdict := message{Verdict: cause} // what does not fit is in the launcher's error
	for rank := range s.workers {
		if w := &s.workers[rank]; w.exit == nil && !w.lost && w.line.send(verdict) != nil {
			s.killOne(rank) // it learns nothing
		}
	}
}

// killOne kills the process of a rank, unless another launcher has started it.
func (s *supervisor) killOne(rank int) {
	if !s.isGuest(rank) {
		s.fleet.killOne(rank)
	}
}

// isGuest reports whether another launcher has started the process of the rank.
func (s *supervisor) isGuest(rank int) bool { return s.Meeting.isGuest(rank) }

// dismiss asks the guests to stop working.
func (s *supervisor) dismiss() {
	for rank, w := range s.workers {
		if s.isGuest(rank) && w.hasBegun && !w.hasLeft {
			w.line.send(message{Stop: true}) // if that fails, its connection ends
		}
	}
}

// leave notes that a guest does no work any more. Its process stays until Meeting.End.
func (s *supervisor) leave(rank int) {
	s.workers[rank].hasLeft = s.isGuest(rank)
}

// isWelcomed reports whether all workers have joined.
func (s *supervisor) isWelcomed() bool { return s.joined == s.World }

func (s *supervisor) handle(e event) {
	w, v := &s.workers[e.rank], &s.vitals[e.rank]
	if e.line == w.line && e.lost == nil && e.exit == nil {
		v.heard = s.now()
	}
	switch {
	case e.host != nil:
		s.loseHost(e.host)
	case e.refused != nil:
		s.refused = e.refused
		if s.Refused != nil {
			s.Refused(e.refused)
		}
	case e.exit != nil:
		s.end(e.rank, e.exit)
	case e.message.Hello != nil:
		s.welcome(e)
	case w.line != e.line:
		// A connection refused as a duplicate sends nothing of interest.
	case e.lost != nil:
		w.lost, v.isWatched = true, false
		s.judge(e.rank)
		s.leave(e.rank)
	case e.message.Progress != nil:
		s.hear(e.rank, *e.message.Progress)
	case e.message.Event != nil && s.Event != nil:
		if err := s.Event(e.rank, e.message.Event); err != nil {
			s.abort(err)
		}
	case e.message.Result != nil:
		v.isWatched = false
		s.finish(w, e.message.Result)
		s.leave(e.rank)
	case e.message.Asked:
		if s.Asked != nil {
			s.Asked()
		}
	case e.message.Failure != nil:
		w.failure, v.isWatched = e.message.Failure, false
		s.judge(e.rank)
		s.leave(e.rank)
	}
}

// end notes that a process has ended.
func (s *supervisor) end(rank int, x *exit) {
	w, v := &s.workers[rank], &s.vitals[rank]
	w.exit = x
	// One on another host that gave up may have been cut off: the end of its connection then never comes, but
	// its silence is noticed.
	v.isWatched = v.isWatched && v.isElsewhere && !w.lost && x.status != 0
	s.judge(rank)
}

// loseHost ends the run because of a host, unless it goes on without the host's ranks or all of them are
// done. Their exits follow.
func (s *supervisor) loseHost(e *HostError) {
	isNeeded := false
	for _, rank := range e.Ranks {
		e.Step = max(e.Step, s.vitals[rank].beat.Step)
		isNeeded = isNeeded || s.workers[rank].result == nil && !s.workers[rank].spared && !s.maySpare(rank)
	}
	if isNeeded {
		e.Worker = s.describe(e.Ranks[0])
		e.Worker.IsLost, e.Worker.Text = true, e.Reason
		s.abort(e)
	}
}

// convict ends the run with the suspect's error, about which more may be known now.
func (s *supervisor) convict() {
	if e := s.strayed(); e != nil && !s.isDeath {
		s.abort(e)
		return
	}
	if w := &s.workers[s.suspect.Rank]; s.suspect.IsLost && w.exit != nil && w.failure == nil {
		s.suspect = s.describe(s.suspect.Rank) // the end of its connection may be what was lost
	}
	last := s.vitals[s.suspect.Rank].beat
	s.suspect.Step, s.suspect.Phase, s.suspect.Wait = last.Step, last.Phase, last.Wait
	if s.isStuck() {
		s.suspect.Function = mainFunction(s.suspect.Log)
	} else {
		s.addAccounts(s.suspect)
	}
	s.abort(s.suspect)
}

// addAccounts adds to e the other workers' reports about its rank.
func (s *supervisor) addAccounts(e *WorkerError) {
	e.Accounts = nil
	for rank := range s.workers {
		if f := s.workers[rank].failure; rank != e.Rank && f != nil && f.Noticed && f.Lost == e.Rank {
			e.Accounts = append(e.Accounts, fmt.Sprintf("%s: %s", s.name(rank), f.Text))
		} else if text, ok := s.vitals[rank].account(s.name(rank), e.Rank); ok {
			e.Accounts = append(e.Accounts, text)
		}
	}
}

// finish records a result; when all results are in, it kills what does not end by itself.
func (s *supervisor) finish(w *worker, result json.RawMessage) {
	isFirst := w.result == nil
	w.result = result
	if isFirst {
		s.countDone()
	}
}

// countDone counts a rank from which no more is expected.
func (s *supervisor) countDone() {
	if s.done++; s.done == s.World {
		s.grace = time.After(stopGrace)
	}
}

// welcome registers a worker and, when it is the last one, starts all of them.
func (s *supervisor) welcome(e event) {
	w := &s.workers[e.rank]
	if w.line != nil {
		why := s.name(e.rank) + " has already joined"
		e.line.send(message{Refused: why}) // best effort
		s.Meeting.drop(e.line)
		s.handle(event{refused: refusal(e.line.conn, errors.New(why))})
		return
	}
	w.line, w.hello = e.line, *e.message.Hello
	if s.joined++; s.joined < s.World {
		return
	}
	s.meeting.full()
	if s.err == nil {
		s.begin()
	}
}

// begin tells all workers, which have joined, how to find each other.
func (s *supervisor) begin() {
	welcome := Welcome{Addresses: make([]string, s.World), Hosts: make([]string, s.World), Job: s.job,
		Streams: s.Streams, SocketBuffer: s.SocketBuffer}
	for rank, w := range s.workers {
		welcome.Addresses[rank], welcome.Hosts[rank] = w.hello.Listen, w.hello.Host
	}
	welcome.Encryption = s.encryption(welcome.Hosts)
	s.welcomed = s.now()
	keys := s.openPulses()
	for rank := range s.workers {
		own := &s.workers[rank]
		welcome, err := s.meeting.welcomeOf(rank, own.hello.Key, welcome)
		if err != nil {
			s.abort(&RendezvousError{Op: "welcome", Addr: own.hello.Host, Err: err})
			return
		}
		welcome.Pulse = keys[rank]
		own.hasBegun = true
		s.watch(rank)
		own.line.send(message{Welcome: &welcome}) // one that does not receive it ends, or gives no beat
	}
}

// watch begins to watch a rank.
func (s *supervisor) watch(rank int) {
	w := &s.workers[rank]
	v := vitals{isWatched: true, heard: s.now(), moved: s.now(), host: w.hello.Host,
		isElsewhere: w.line.isElsewhere()}
	if v.isElsewhere {
		v.patience = patientSilence // until a pulse has come
	}
	s.vitals[rank] = v
}

// judge decides whether what is known about a rank ends the run. The process's exit and its last
// message arrive independently, so an exit counts only after its connection was read to the end.
func (s *supervisor) judge(rank int) {
	w := &s.workers[rank]
	isGone := w.exit != nil && (w.line == nil || w.lost) || s.isGuest(rank) && w.lost
	switch {
	case isGone && s.diesStopping(w):
		s.stopped.Killed = s.describe(rank)
		return
	case s.err != nil || w.result != nil || w.spared:
		return
	case s.isStuck():
		if rank == s.suspect.Rank && w.exit != nil {
			s.convict() // its stacks are written
		}
		return
	case isGone && w.failure == nil && s.maySpare(rank):
		s.spare(s.describe(rank))
		return
	case w.failure != nil && w.failure.Noticed:
		if s.suspect == nil {
			s.suspect = s.accuse(rank, w.failure)
			s.verdict = time.After(s.verdictTime())
		}
	case w.failure != nil:
		s.abort(s.describe(rank))
		return
	case isGone && !s.isDeath:
		s.suspect, s.isDeath = s.describe(rank), true
		s.verdict = time.After(accountDelay)
	case w.exit != nil && s.suspect != nil && rank == s.suspect.Rank && !s.isDeath:
		s.verdict = time.After(accountDelay)
	}
	if (s.isDeath || w.failure != nil && w.failure.In != "") && s.hasHeardAll() {
		s.convict()
	}
}

// verdictTime returns how long the verdict about the suspect waits.
func (s *supervisor) verdictTime() time.Duration {
	rank := s.suspect.Rank
	if s.suspect.IsLost && !s.isGuest(rank) && !s.fleet.isHere(rank) && s.workers[rank].exit == nil {
		return newsDelay
	}
	return verdictDelay
}

// maySpare reports whether the run, if it is not about to end, can go on without a rank.
func (s *supervisor) maySpare(rank int) bool {
	return s.err == nil && s.suspect == nil && s.joined == s.World && s.MayLose != nil && s.MayLose(rank)
}

// spare lets the run go on without a rank.
func (s *supervisor) spare(e *WorkerError) {
	s.workers[e.Rank].spared = true
	s.vitals[e.Rank].isWatched = false
	if s.Lost != nil {
		s.Lost(e)
	}
	s.countDone()
}

// hasHeardAll reports whether no worker can send anything more.
func (s *supervisor) hasHeardAll() bool {
	return !slices.ContainsFunc(s.workers, func(w worker) bool {
		return w.result == nil && w.failure == nil && !w.lost && w.exit == nil
	})
}

// accuse returns the error about a rank that another reports as lost.
func (s *supervisor) accuse(by int, f *Failure) *WorkerError {
	if f.Lost < 0 || f.Lost >= s.World || f.Lost == by || s.workers[f.Lost].failure != nil {
		return s.describe(by)
	}
	e := s.describe(f.Lost)
	e.IsLost = true
	return e
}

// describe returns an error with what is known about the end of a rank.
func (s *supervisor) describe(rank int) *WorkerError {
	w := &s.workers[rank]
	e := &WorkerError{Rank: rank, Role: Role(rank, s.numWorkers()), PID: w.hello.PID, Host: w.hello.Host,
		Step: s.vitals[rank].beat.Step, Phase: s.vitals[rank].beat.Phase, Wait: s.vitals[rank].beat.Wait,
		IsLost: s.isGuest(rank) && w.lost}
	if pid := s.fleet.pid(rank); pid != 0 {
		e.PID = pid
	}
	log := s.Log(rank)
	if info, err := os.Stat(log); err == nil && info.Size() > 0 && w.failure == nil {
		e.Log = log // if it has more than the report
	}
	if e.Host == "" && s.hosts != nil {
		e.Host = s.hosts[rank]
	} else if e.Host == "" {
		e.Host, _ = os.Hostname() // "": the message then names no host
	}
	switch {
	case w.failure != nil:
		e.Reported, e.Status, e.Text = true, w.failure.Status, w.failure.Text
	case w.exit != nil:
		e.PID, e.Signal, e.Status = cmp.Or(e.PID, w.exit.pid), w.exit.signal, w.exit.status
		e.Text, e.Cause, e.IsLost = w.exit.text, w.exit.cause, w.exit.isLost
	}
	return e
}

// awaitJoins says for whom the run waits, and ends it if some do not come.
func (s *supervisor) awaitJoins() {
	if s.joined == s.World || s.err != nil {
		return
	}
	if s.now() >= s.JoinTimeout {
		s.abort(s.absent())
	} else if s.now() == patienceToTell && s.Waits != nil && s.Meeting != nil {
		s.Waits(fmt.Errorf("%d of %d processes have joined; waiting up to %v for %s", s.joined, s.World,
			s.JoinTimeout, s.missing()))
	}
}

// missing names the ranks that have not joined.
func (s *supervisor) missing() string {
	var missing []string
	for rank := range s.workers {
		if s.workers[rank].line == nil {
			missing = append(missing, s.name(rank))
		}
	}
	return strings.Join(missing, ", ")
}

// absent is the error about ranks that have not joined in time.
func (s *supervisor) absent() error {
	err := fmt.Errorf("%d of %d processes joined within %v; missing: %s", s.joined, s.World, s.JoinTimeout,
		s.missing())
	if s.refused != nil {
		err = fmt.Errorf("%w; %w", err, s.refused)
	}
	return &RendezvousError{Op: "wait at", Addr: s.meeting.place(), Err: err}
}

// tellingLine returns the most informative line of a log about a sudden end: the first line of the
// Go runtime's message, or the last line if orLast.
func tellingLine(path string, orLast bool) string {
	const tail = 1 << 20 // more than the stacks of a thousand goroutines
	last := ""
	for line := range strings.Lines(strings.TrimSpace(lastOf(path, tail))) {
		line = strings.TrimSpace(line)
		for _, head := range []string{threadsLine, cgoThreadsLine, "panic: ", "fatal error: ", "SIG"} {
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
