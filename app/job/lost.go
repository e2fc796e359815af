package job

import (
	"slices"

	"lockstep/app/record"
	"lockstep/app/rundir"
)

// lose tells, once for each file, that it is not written any more because of err; nil stands for one that
// is.
func (w *worker) lose(file string, err error) {
	if err == nil || slices.Contains(w.lost, file) {
		return
	}
	w.lost = append(w.lost, file)
	l := record.Lost{Rank: w.rank, File: file, Reason: err.Error()}
	w.note("%v", l)
	w.tell(notice{Lost: &l})
}

// openLogs opens the files to which every step adds.
func (w *worker) openLogs() (err error) {
	if w.steps, err = w.dir.OpenStepLog(w.config.KeepsCheckpoints()); err != nil {
		return err
	}
	if w.events, err = openEvents(w.dir, w.rank, w.speaks()); err != nil {
		w.steps.Close() // empty so far
	}
	return err
}

// closeLogs writes what is left of them.
func (w *worker) closeLogs() {
	w.lose(rundir.StepsFile, w.steps.Close())
	w.lose(eventsFolder, w.events.close())
}
