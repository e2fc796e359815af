package worker

import (
	"errors"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/comm"
	"lockstep/trace"
)

// errRoom is why logs end that make room.
var errRoom = errors.New("removed to make room for the trained weights")

// makingRoom calls write, which takes so many bytes. As long as that finds the disk full, it removes logs of
// the run, one kind after another, and calls write again: the trained weights are worth more. It removes none
// if all of them together do not make enough room, since the measurements would be gone for nothing.
func (w *Worker) makingRoom(bytes int64, write func() error) error {
	err := write()
	logs := []string{rundir.EventsFolder, rundir.SpansFolder, rundir.StepsFile, rundir.UpdatesFile}
	free, total := host.Room(string(w.Dir))
	if total > 0 && int64(free)+w.Dir.Discardable(logs...) < bytes {
		return err
	}
	for _, file := range logs {
		if !job.IsFull(err) {
			break
		}
		if w.Dir.Discard(file) == 0 {
			continue
		}
		w.Lost.Forget(file)
		w.Lose(file, errRoom) // that it ended early has been told, not that all of it is gone
		err = write()
	}
	return err
}

// logs are the files to which every step appends, and what measures for them.
type logs struct {
	steps  *rundir.StepLog
	events *events
	meter  *host.Meter

	recorder *trace.Recorder // nil: no spans are recorded

	exposed comm.Split    // of the exchange, until the last step
	kept    time.Duration // in which training stood still for checkpoints since then
}

// openLogs opens them.
func (w *Worker) openLogs() (err error) {
	if w.steps, err = w.Dir.OpenStepLog(w.Config.KeepsCheckpoints()); err != nil {
		return err
	}
	if w.events, err = openEvents(w.Dir, w.Rank, w.speaks(), w.before.Progress.Step); err != nil {
		w.steps.Close() // empty so far
	}
	return err
}

// closeLogs flushes and closes them.
func (w *Worker) closeLogs() {
	w.Lose(rundir.StepsFile, w.steps.Close())
	w.Lose(rundir.EventsFolder, w.events.close())
	w.meter.Close()
}

// keepSpans writes the rest of the spans, once nobody in this process records any more. A run that fails
// before its first step has none.
func (w *Worker) keepSpans() {
	if w.recorder == nil || !w.IsTraining.Load() {
		return
	}
	w.recorder.SetSkew(w.Skew())
	w.Lose(rundir.SpansFolder, w.recorder.Close())
	w.recorder = nil
}
