package job

import (
	"errors"
	"slices"
	"sync"

	"lockstep/app/record"
	"lockstep/app/rundir"
)

// losses are the files that a rank no longer writes. A worker and a server in its process share them.
type losses struct {
	mu    sync.Mutex
	files []string
}

// add adds the file unless err is nil. It reports whether the file is new.
func (l *losses) add(file string, err error) (isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || slices.Contains(l.files, file) {
		return false
	}
	l.files = append(l.files, file)
	return true
}

// forget removes the file.
func (l *losses) forget(file string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = slices.DeleteFunc(l.files, func(name string) bool { return name == file })
}

// lose reports, once per file, that the file is no longer written because of err. It ignores a nil err.
func (w *worker) lose(file string, err error) {
	if !w.lost.add(file, err) {
		return
	}
	l := record.Lost{Rank: w.rank, Host: w.host, File: file, Reason: err.Error()}
	w.note("%v", l)
	w.tell(notice{Lost: &l})
}

// lose does for a server what a worker's lose does.
func (s *server) lose(file string, err error) {
	if !s.lost.add(file, err) {
		return
	}
	l := record.Lost{Rank: s.rank, Host: s.host, File: file, Reason: err.Error()}
	s.note("%v", l)
	s.tell(notice{Lost: &l})
}

// errRoom is why logs end that make room.
var errRoom = errors.New("removed to make room for the trained weights")

// makingRoom calls write, which takes so many bytes. As long as that finds the disk full, it removes logs of
// the run, one kind after another, and calls write again: the trained weights are worth more. It removes none
// if all of them together do not make enough room, since the measurements would be gone for nothing.
func (w *worker) makingRoom(bytes int64, write func() error) error {
	err := write()
	logs := []string{eventsFolder, rundir.TraceFile, rundir.StepsFile, rundir.UpdatesFile}
	free, isKnown := w.dir.FreeBytes()
	if isKnown && free+w.dir.Discardable(logs...) < bytes {
		return err
	}
	for _, file := range logs {
		if !isFull(err) {
			break
		}
		if w.dir.Discard(file) == 0 {
			continue
		}
		w.lost.forget(file)
		w.lose(file, errRoom) // that it ended early has been told, not that all of it is gone
		err = write()
	}
	return err
}

// openLogs opens the files to which every step appends.
func (w *worker) openLogs() (err error) {
	if w.steps, err = w.dir.OpenStepLog(w.config.KeepsCheckpoints()); err != nil {
		return err
	}
	if w.events, err = openEvents(w.dir, w.rank, w.speaks(), w.before.Progress.Step); err != nil {
		w.steps.Close() // empty so far
	}
	return err
}

// closeLogs flushes and closes them.
func (w *worker) closeLogs() {
	w.lose(rundir.StepsFile, w.steps.Close())
	w.lose(eventsFolder, w.events.close())
}
