package train

import (
	"fmt"
	"slices"
	"time"

	"lockstep/graph"
	"lockstep/optim"
	"lockstep/trace"
)

// Progress is the counters of a run. Together with the variables and the optimizer's state it is
// all that a run needs to continue: everything else, such as the position in the epoch's order, the
// augmentation and the learning rate, is a function of the configuration and the step. A finished
// run that is extended continues like a run of the longer length, except that schedules, and
// Lookahead with a Power, depend on the length.
type Progress struct {
	// Step is the number of steps done, and the number of the next step.
	Step int `json:"step"`
	// Samples is the number of samples trained on, over all workers.
	Samples int64 `json:"samples"`
	// FirstLoss is the mean loss of the first step, LastLoss what LossAfter makes of the last one.
	FirstLoss float64 `json:"first_loss"`
	LastLoss  float64 `json:"last_loss"`
	// TrainCorrect of TrainSamples were classified correctly so far in the epoch of the last step.
	// These two and Coverage are sums over all workers. A worker whose Updater shows it the rows of
	// its own shards only has its own part of each; whoever saves them adds them up.
	TrainCorrect int64 `json:"train_correct"`
	TrainSamples int64 `json:"train_samples"`
	// Coverage is the hash of those samples, as data.Coverage defines it.
	Coverage uint64 `json:"coverage,string"`
	// Validation and Test are the last evaluations of each set; their Samples are 0 if there was none.
	Validation Evaluation `json:"validation,omitzero"`
	Test       Evaluation `json:"test"`
	// Best is the best evaluation so far, if there is a Selection.
	Best Best `json:"best,omitzero"`
	// Trained is the training time.
	Trained time.Duration `json:"trained_nanoseconds"`
	// IsAveraged says that the run had ended, so that its variables hold the moving averages or
	// Lookahead's slow weights, and the vectors of those hold the live values.
	IsAveraged bool `json:"is_averaged"`
}

// Snapshot is the state of a run between two steps. Except for Progress it refers to the loop's own
// memory, which the next step changes.
type Snapshot struct {
	Progress
	Variables *graph.Variables
	// Optimizer is the state of the update, in the layout of Variables.Weights: the state of the
	// optimizer, slow weights, averages.
	Optimizer []optim.Vector
	// Sharded is the state of an optimizer that has only the ranges Shares of the weights, one
	// after another; Optimizer then has the rest of the state.
	Sharded []optim.Vector
	Shares  [][2]int
	// Statistics are the slow copies and averages of the running statistics, in the layout of
	// Variables.State.
	Statistics []optim.Vector

	settle func() error
}

// Settle blocks until all values of the snapshot are there; see Updater.Settle. It must be called
// before values are copied. After an error the values are a mixture of two steps.
func (m Snapshot) Settle() error { return m.settle() }

// Bytes returns the size of a copy of the snapshot, with the shares of all workers.
func (m Snapshot) Bytes() int64 {
	floats := len(m.Variables.Weights) + len(m.Variables.State)
	for _, v := range slices.Concat(m.Optimizer, m.Statistics) {
		floats += len(v.Data)
	}
	floats += len(m.Sharded) * len(m.Variables.Weights)
	return 4 * int64(floats)
}

// Checkpointer saves snapshots of a run, from which it can be resumed.
type Checkpointer interface {
	// Save is called on the training goroutine after every step, after the evaluation if one was
	// due, and reports whether it saved the snapshot. It must copy what it saves before it returns.
	// isLast says that the loop ends here: it has done all steps, was cancelled, or has lost a
	// peer. Save counts as phase "other", except for Snapshot.Settle. After an error the run ends.
	Save(m Snapshot, isLast bool) (isSaved bool, err error)
}

// newSnapshot collects the vectors of a snapshot.
func (l *Loop) newSnapshot() Snapshot {
	weights, statistics := l.follow.state()
	best, itsStatistics := l.chosen.vectors()
	weights, statistics = append(weights, best...), append(statistics, itsStatistics...)
	m := Snapshot{Variables: l.variables, Optimizer: weights, Statistics: statistics, settle: l.settle}
	switch rule, shares := l.updater.Optimizer(); {
	case rule == nil:
	case shares != nil:
		m.Sharded, m.Shares = rule.State(), shares
	default:
		m.Optimizer = append(rule.State(), weights...)
	}
	return m
}

// Snapshot returns a snapshot of the run. Between the steps of Run it is for the Checkpointer; before Run
// it gives access to the vectors that must be filled before Resume.
func (l *Loop) Snapshot() Snapshot {
	d, m := &l.done, l.snapshot
	m.Progress = Progress{Step: d.Steps, Samples: d.Samples,
		FirstLoss: d.FirstLoss, LastLoss: d.LastLoss,
		TrainCorrect: d.TrainCorrect, TrainSamples: d.TrainSamples,
		Coverage: l.covered, Validation: d.Validation, Test: d.Test, Best: d.Best,
		IsAveraged: l.swapped, Trained: l.before}
	if l.clock != nil {
		m.Trained = l.trained()
	}
	return m
}

// Resume lets Run continue after p, the progress of a run with the same configuration. Workers,
// threads, strategy and length may differ. To restore, overwrite the variables and every vector
// that Snapshot returns, then call Resume. It returns an error if p does not fit this run.
func (l *Loop) Resume(p Progress) error {
	c := l.config
	steps, done := c.steps(), c.numSamples(p.Step)
	switch {
	case c.Isolated || c.EvalOnly:
		return fmt.Errorf("train: resume: isolated workers and evaluations have no progress")
	case p.Step < 0 || p.Step > steps:
		return fmt.Errorf("train: resume: %d steps are done, the run has %d", p.Step, steps)
	case p.Trained < 0:
		return fmt.Errorf("train: resume: %v of training", p.Trained)
	case p.Samples != int64(done):
		return fmt.Errorf("train: resume: %d samples in %d steps, want %d of %s in batches of %d",
			p.Samples, p.Step, done, c.Train.Name, c.Batch)
	case p.IsAveraged && !l.follow.hasOther():
		return fmt.Errorf("train: resume: the parameters are averages, but the run has none")
	}
	if rule, _ := l.updater.Optimizer(); rule != nil {
		rule.Resume(p.Step)
	}
	if l.isPartial && c.Rank > 0 {
		p.Coverage, p.TrainCorrect, p.TrainSamples = 0, 0, 0 // rank 0 goes on with the sums
	}
	l.covered, l.swapped, l.before = p.Coverage, p.IsAveraged, p.Trained
	l.done = Result{Steps: p.Step, Epochs: c.epochsAt(p.Step), Samples: p.Samples,
		Shards:    c.numShards(p.Step),
		FirstLoss: p.FirstLoss, LastLoss: p.LastLoss, TrainCorrect: p.TrainCorrect,
		TrainSamples: p.TrainSamples, Validation: p.Validation, Test: p.Test,
		Best: p.Best}
	return nil
}

// keep passes the snapshot to the checkpointer.
func (l *Loop) keep(isLast bool) error {
	if l.config.Checkpointer == nil {
		return nil
	}
	l.lap(trace.Other, "")
	isSaved, err := l.config.Checkpointer.Save(l.Snapshot(), isLast)
	name := ""
	if isSaved {
		name = "checkpoint"
	}
	l.lap(trace.Other, name)
	return err
}
