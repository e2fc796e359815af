package job

import (
	"fmt"
	"slices"

	"lockstep/app/rundir"
)

// Lost is a log or a file of metrics that a run could not go on writing, mostly because the disk is full.
// Such a run goes on without: what it protects are weights and checkpoints.
type Lost struct {
	Rank   int    `json:"rank"`
	File   string `json:"file"` // its name in the run directory
	Reason string `json:"reason"`
}

// String says what is lost and why.
func (l Lost) String() string {
	return fmt.Sprintf("%s of rank %d ends early: %s", l.File, l.Rank, l.Reason)
}

// lose tells, once for each file, that it is not written any more because of err; nil stands for one that
// is.
func (w *worker) lose(file string, err error) {
	if err == nil || slices.Contains(w.lost, file) {
		return
	}
	w.lost = append(w.lost, file)
	l := Lost{Rank: w.rank, File: file, Reason: err.Error()}
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
