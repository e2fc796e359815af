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
	"lockstep/train"
)

// Worker is one replica, wherever it runs. Its parts live as long as it does, and each closes what it opens.
type Worker struct {
	job.Seat
	Task        input.Task
	Crowded     bool        // the run has more compute threads than the machine has cores
	IsOver      func() bool // see train.Config
	Hears       Listener    // nil: nobody
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

// Listener is what a program that trains in its own process hears of a rank.
type Listener interface {
	// Step and Evaluation are called after each of them, on the training goroutine.
	train.Sink
	// Ended is called when the loop has ended well, before anything is saved. Its error ends the run.
	Ended(l *train.Loop, done train.Result) error
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
