package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// now is the time in checks.
func (s *supervisor) now() time.Duration { return time.Duration(s.looks) * lookEvery }

// look ends the run if a worker is dead or stuck. A stuck worker first writes its stacks. A run
// that is already stopping kills dead workers at once.
func (s *supervisor) look() {
	s.looks++
	s.awaitJoins()
	s.lookForStopped()
	s.hearPulses()
	s.notePulses()
	s.lookForCores()
	v, ok := examine(s.vitals, s.now(), s.SilenceTimeout)
	if !ok || s.err != nil && s.stopped == nil {
		return
	}
	e := s.describe(v.rank)
	switch v.kind {
	case dead:
		e.Silence, e.State = v.time, s.stateOf(v.rank)
		e.Cause = s.networkCause(v.rank)
	case deaf:
		e.Deaf, e.Cause = v.time, s.networkCause(v.rank)
	default:
		e.Stuck, e.Log = v.time, s.Log(v.rank)
	}
	if s.maySpare(v.rank) {
		s.killOne(v.rank)
		s.spare(e)
		return
	}
	s.addAccounts(e)
	for rank := range s.vitals {
		s.vitals[rank].isWatched = false
	}
	switch {
	case s.stopped != nil:
		s.stopped.Killed = e
		s.fleet.kill()
	case v.kind != stuck:
		s.abort(e)
	default:
		s.suspect = e
		s.quit(v.rank)
		s.verdict = time.After(verdictDelay)
	}
}

// hear takes a beat, unless it is late, because another way was faster.
func (s *supervisor) hear(rank int, p Progress) {
	if s.vitals[rank].hear(s.now(), p) && s.Progress != nil {
		s.Progress(rank, p)
	}
}

// hearPulses takes the beats that came as datagrams.
func (s *supervisor) hearPulses() {
	for rank := range s.workers {
		p, ok := s.meeting.pulses.take(rank)
		if !ok {
			continue
		}
		v := &s.vitals[rank]
		v.heard, v.deaf, v.patience = s.now(), p.deaf, 0
		var beat Progress
		if len(p.progress) > 0 && json.Unmarshal(p.progress, &beat) == nil && v.isWatched {
			s.hear(rank, beat)
		}
	}
}

// notePulses says once that no datagrams come from some host.
func (s *supervisor) notePulses() {
	if s.joined < s.World || s.hasNotedPulses || s.now()-s.welcomed < s.SilenceTimeout {
		return
	}
	s.hasNotedPulses = true
	rank := slices.IndexFunc(s.vitals, func(v vitals) bool { return v.patience > 0 && v.isWatched })
	if rank >= 0 && s.Waits != nil {
		s.Waits(fmt.Errorf("no UDP datagram of %s on %s has reached %s: if it is cut off, that is noticed "+
			"after %v instead of %v", s.name(rank), s.vitals[rank].host, s.meeting.place(), patientSilence,
			s.SilenceTimeout))
	}
}

// stateOf returns the state of a rank's process, if that is known and says more.
func (s *supervisor) stateOf(rank int) string {
	switch {
	case !s.isGuest(rank):
		return s.fleet.state(rank)
	case !s.vitals[rank].isElsewhere:
		return processState(s.workers[rank].hello.PID)
	}
	return ""
}

// lookForStopped watches the processes of this host that have not begun, which send no beats: as long as
// the system does not show a process as stopped, that counts as a sign of life.
func (s *supervisor) lookForStopped() {
	for rank := range s.workers {
		w, v := &s.workers[rank], &s.vitals[rank]
		if w.hasBegun || w.exit != nil || s.isGuest(rank) || !s.fleet.isHere(rank) {
			continue
		}
		v.isWatched = true
		if !strings.HasPrefix(s.fleet.state(rank), stoppedState) {
			v.heard = s.now()
		}
	}
}

// lookForCores measures for how long silent workers on this host had work and no core.
func (s *supervisor) lookForCores() {
	for rank := range s.vitals {
		v, pid := &s.vitals[rank], s.pidHere(rank)
		quiet := s.now() - v.heard
		switch {
		case s.Starving == nil || pid == 0 || !v.isWatched || quiet < noticedAfter:
			v.lost, v.starved = nil, 0
		case v.lost == nil:
			v.lost = s.Starving(pid)
		default:
			v.starved = min(v.lost(), quiet-noticedAfter, maxStarved)
		}
	}
}

// pidHere returns the number of a rank's process on this host; 0: it has ended, or is elsewhere.
func (s *supervisor) pidHere(rank int) int {
	switch {
	case !s.isGuest(rank) && s.fleet.isHere(rank):
		return s.fleet.pid(rank)
	case s.isGuest(rank) && !s.vitals[rank].isElsewhere:
		return s.workers[rank].hello.PID
	}
	return 0
}

// networkCause says which host seems to be cut off, if the fate of the others shows it: this one, if
// nobody elsewhere is heard or hears; or that of the rank, if all on it share its fate.
func (s *supervisor) networkCause(rank int) string {
	const nearly = time.Second // before the time at which the first counted as dead
	isQuiet := func(v *vitals) bool {
		return s.now()-v.heard > s.SilenceTimeout-nearly || v.deaf > s.SilenceTimeout-nearly
	}
	elsewhere, quiet, same, quietSame := 0, 0, 0, 0
	own := s.vitals[rank].host
	for other := range s.vitals {
		v := &s.vitals[other]
		if v.isElsewhere {
			elsewhere++
			if isQuiet(v) {
				quiet++
			}
		}
		if v.host == own {
			same++
			if isQuiet(v) {
				quietSame++
			}
		}
	}
	switch {
	case !s.vitals[rank].isElsewhere:
		return ""
	case quiet == elsewhere && elsewhere > same:
		return "the launcher's host is cut off: so it is with all workers on other hosts"
	case quietSame == same && same > 1:
		return fmt.Sprintf("%s is cut off or down: so it is with all %d workers on it", own, same)
	}
	return ""
}

// isStuck reports whether the suspect is stuck and about to write its stacks.
func (s *supervisor) isStuck() bool { return s.suspect != nil && s.suspect.Stuck > 0 }

// quit makes a stuck worker write its stacks.
func (s *supervisor) quit(rank int) {
	if s.isGuest(rank) {
		s.workers[rank].line.send(message{Dump: true}) // one that does not receive it writes none
		return
	}
	s.fleet.quit(rank)
}

// openPulses returns the keys of the workers on other hosts, by rank. Without UDP there are none.
func (s *supervisor) openPulses() []*PulseKey {
	keys := make([]*PulseKey, s.World)
	for rank := range s.workers {
		l := s.workers[rank].line
		if !l.isElsewhere() {
			continue
		}
		if s.meeting.pulses == nil {
			var err error
			if s.meeting.pulses, err = openPulses(l.conn.LocalAddr().(*net.TCPAddr), s.World); err != nil {
				return keys
			}
		}
		keys[rank] = s.meeting.pulses.admit(rank, s.SilenceTimeout)
	}
	if s.meeting.pulses != nil {
		s.meeting.pulses.start()
	}
	return keys
}
