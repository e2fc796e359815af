package worker

import (
	"sync/atomic"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/snapshot"
	"lockstep/app/record"
	"lockstep/graph"
	"lockstep/shard"
)

// Worker is one replica, wherever it runs. Its parts live as long as it does, and each closes what it opens.
type Worker struct {
	job.Seat
	Task        input.Task
	Crowded     bool        // the run has more compute threads than the machine has cores
	IsOver      func() bool // see train.Config
	Probes      bool        // measure links although nothing is exchanged
	WorkersHere int         // on this machine
	between     Between     // of its program
	plan        shard.Plan

	processor
	wiring
	footprint
	logs
	history
	weights
	saver *snapshot.Saver // nil: this worker keeps no checkpoints
	peers *snapshot.Peers // nil: the state between steps is the same on all ranks

	IsTraining atomic.Bool            // it has begun its first step
	halt       atomic.Pointer[func()] // of an asynchronous worker: ends the run at the next stop
}

// history is what a run has done, which its checkpoints keep.
type history struct {
	before      job.Kept // state of the run before it was resumed; zero: a new run
	began       time.Time
	evaluations []record.Evaluation
	variables   *graph.Variables // of the loop
	moves       []record.Move    // of shards, on rank 0
	ready       readiness
}

// speaks reports whether this worker reports the figures that are the same on all ranks: rank 0 does, and
// every rank if they never exchange.
func (w *Worker) speaks() bool { return w.Rank == 0 || w.Config.IsIsolated() }
