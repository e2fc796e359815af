package worker

import (
	"time"

	"lockstep/app/host"
	"lockstep/app/rundir"
	"lockstep/comm"
	"lockstep/trace"
)

// logs are the files to which every step appends, and what measures for them.
type logs struct {
	steps  *rundir.StepLog
	events *events
	meter  *host.Meter

	recorder *trace.Recorder // nil: no spans are recorded

	exposed comm.Split    // of the exchange, until the last step
	waited  time.Duration // in sync_exposed, since the last step that looked at what was lost
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
