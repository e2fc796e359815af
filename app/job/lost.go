package job

import (
	"errors"
	"slices"

	"lockstep/app/record"
	"lockstep/app/rundir"
)

// lose reports, once per file, that the file is no longer written because of err. It ignores a nil err.
func (w *worker) lose(file string, err error) {
	if err == nil || slices.Contains(w.lost, file) {
		return
	}
	w.lost = append(w.lost, file)
	l := record.Lost{Rank: w.rank, Host: w.host, File: file, Reason: err.Error()}
	w.note("%v", l)
	w.tell(notice{Lost: &l})
}

// errRoom is why logs end that make room.
var errRoom = errors.New("removed to make room for the trained weights")

// makingRoom calls write. As long as that finds the disk full, it removes logs of the run, one kind after
// another, and calls write again: the trained weights are worth more.
func (w *worker) makingRoom(write func() error) error {
	err := write()
	for _, file := range []string{eventsFolder, rundir.TraceFile, rundir.StepsFile} {
		if !isFull(err) {
			break
		}
		if w.dir.Discard(file) == 0 {
			continue
		}
		w.lost = slices.DeleteFunc(w.lost, func(name string) bool { return name == file })
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
	if w.events, err = openEvents(w.dir, w.rank, w.speaks()); err != nil {
		w.steps.Close() // empty so far
	}
	return err
}

// closeLogs flushes and closes them.
func (w *worker) closeLogs() {
	w.lose(rundir.StepsFile, w.steps.Close())
	w.lose(eventsFolder, w.events.close())
}
