package cluster

import (
	"slices"
	"time"
)

// stop asks the workers to end; those that have not joined cannot receive that and are killed.
func (s *supervisor) stop(err error) {
	if s.err == nil && (s.isDeath && s.Meeting != nil || s.isStuck()) {
		s.convict() // another launcher ends all processes when it sees that one is dead
	}
	if s.err != nil {
		return
	}
	s.stopped, s.asked = &StopError{Err: err}, s.now()
	s.err = s.stopped
	s.grace = time.After(s.StopGrace)
	if s.joined < s.World {
		s.fleet.kill()
		return
	}
	for _, w := range s.workers {
		w.line.send(message{Stop: true}) // a worker that does not receive it is killed
	}
}

// savesStill reports whether a run that was asked to stop has a worker that has made steps and gets on with
// the last one or with saving them. One that is dead or stuck is no longer watched; one that has waited long
// for another does not get on itself.
func (s *supervisor) savesStill() bool {
	return s.SavesAtStop && s.stopped != nil && slices.ContainsFunc(s.vitals, func(v vitals) bool {
		return v.isWatched && v.beat.Limit > 0 && v.beat.Step > v.beat.From &&
			(v.beat.Wait == nil || v.heard-v.moved < StuckAfter)
	})
}

// expire kills the processes that did not end within the grace period. Guests are left to Meeting.End. One
// that has saved what it had gets the period once more: its process is still to end.
func (s *supervisor) expire() {
	if isSaving := s.savesStill(); isSaving || s.isSaving {
		s.grace = time.After(lookEvery)
		if s.isSaving = isSaving; !isSaving {
			s.grace = time.After(s.StopGrace)
		}
		return
	}
	if s.stopped != nil && s.stopped.Killed == nil {
		for rank := range s.workers {
			if s.workers[rank].exit == nil && !s.workers[rank].hasLeft {
				s.stopped.Killed = s.describe(rank)
				s.stopped.Killed.Late = max(s.StopGrace, s.now()-s.asked)
				break
			}
		}
	}
	s.fleet.kill()
	s.dismiss()
	for rank := range s.workers {
		s.leave(rank)
	}
}

// diesStopping reports whether a worker was killed while it stopped, and not by the launcher, which notes
// whom it kills.
func (s *supervisor) diesStopping(w *worker) bool {
	return s.stopped != nil && s.stopped.Killed == nil && s.isWelcomed() && w.exit != nil &&
		w.exit.signal != "" && w.failure == nil && w.result == nil && !w.spared
}
