package worker

import (
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/trace"
	"lockstep/train"
)

// watched is an Updater that sets the phase of the worker's beacon. Once the GPU has failed, it passes
// nothing on: peers lose this worker before they update by what the GPU left.
type watched struct {
	train.Updater
	worker *Worker
}

// readiness adds up how long the backward pass of the last shard had taken when each gradient was final.
type readiness struct {
	began time.Time
	steps int
	after []time.Duration // by parameter, of all steps together
}

// gradientStats describes the gradients of l in the order in which they are final; nil before the first step.
func (r *readiness) gradientStats(l *train.Loop) (all []record.GradientStat) {
	if r.steps == 0 {
		return nil
	}
	parameters := l.Parameters()
	for _, param := range l.Variables().Order {
		p := parameters[param]
		all = append(all, record.GradientStat{Offset: p.Offset, Len: p.Len,
			Ready: (r.after[param] / time.Duration(r.steps)).Seconds()})
	}
	return all
}

// Next waits for a batch of an asynchronous run, and for others not.
func (w watched) Next(step int) (train.Work, error) {
	if w.worker.Config.IsAsync() {
		w.worker.meter.Exchange(true)
		defer w.worker.meter.Exchange(false)
	}
	return w.Updater.Next(step)
}

// Settle waits for weights, longest for the first.
func (w watched) Settle(param int) error {
	if param == 0 {
		w.worker.meter.Exchange(true)
		defer w.worker.meter.Exchange(false)
	}
	return w.Updater.Settle(param)
}

func (w watched) Begin(step int) {
	w.worker.Beacon.Enter(trace.Forward.String())
	w.Updater.Begin(step)
}

func (w watched) GatherRows(rows train.Rows) {
	w.worker.Beacon.Enter(trace.Backward.String())
	w.Updater.GatherRows(rows)
	w.worker.ready.began = time.Now()
	w.worker.ready.steps++
}

func (w watched) Ready(param int) {
	if r := &w.worker.ready; r.steps > 0 {
		r.after[param] += time.Since(r.began)
	}
	if w.worker.deviceErr() == nil {
		w.Updater.Ready(param)
	}
}

func (w watched) Wait() (lo, hi int, err error) {
	if err := w.worker.deviceErr(); err != nil {
		return 0, 0, err
	}
	w.worker.meter.Gradient()
	w.worker.Beacon.Enter(trace.SyncExposed.String())
	w.worker.meter.Exchange(true)
	lo, hi, err = w.Updater.Wait()
	w.worker.meter.Exchange(false)
	if err == nil {
		w.worker.Beacon.Enter(trace.Optimizer.String())
	}
	return lo, hi, err
}

// Sum is called for evaluation and at the end of an epoch.
func (w watched) Sum(counts []int64) error {
	if err := w.worker.deviceErr(); err != nil {
		return err
	}
	w.worker.Beacon.Enter(trace.Evaluation.String())
	defer w.worker.Beacon.Enter(trace.Data.String())
	return w.Updater.Sum(counts)
}

// watchedCheckpointer is a Checkpointer that tells the beacon when it keeps a snapshot. It keeps none of a
// GPU that has failed.
type watchedCheckpointer struct {
	train.Checkpointer
	worker *Worker
}

// Save implements train.Checkpointer.
func (k watchedCheckpointer) Save(m train.Snapshot, isLast bool) (bool, error) {
	if err := k.worker.deviceErr(); err != nil {
		return false, err
	}
	k.worker.Beacon.Enter(job.PhaseCheckpoint)
	defer k.worker.Beacon.Enter(trace.Data.String())
	defer func(began time.Time) { k.worker.kept += time.Since(began) }(time.Now())
	return k.Checkpointer.Save(m, isLast)
}
