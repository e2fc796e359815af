package worker

import (
	"fmt"
	"slices"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/snapshot"
	"lockstep/app/rundir"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
	"lockstep/optim"
	"lockstep/train"
)

// newSaver returns the saver of this worker; nil if it writes no checkpoints.
func (w *Worker) newSaver() *snapshot.Saver {
	if !w.Config.KeepsCheckpoints() || w.Rank != 0 || w.Config.EvalOnly {
		return nil
	}
	return &snapshot.Saver{Store: w.Dir.Store(), Folder: w.Dir.Path(rundir.CheckpointsFolder),
		Every: w.Config.CheckpointInterval(), Peers: w.peers,
		Describe: w.describe, Metadata: w.metadata(), Explain: func() error { return w.explain(w.Dir) },
		At: time.Now()}
}

// describe returns the description of the run for a checkpoint's manifest.
func (w *Worker) describe(p train.Progress) job.Kept {
	k := job.Kept{Config: w.Config.Rooted(), Progress: p, Evaluations: slices.Clone(w.evaluations),
		Moves:   slices.Clone(w.moves),
		Seconds: w.before.Seconds + time.Since(w.began).Seconds(), Weights: w.started, Batches: w.batches,
		TrainSamples: w.Task.Train.Len(), Data: w.Task.Hashes,
		Written: time.Now().UTC()}
	if set := w.Task.Scored(); set != nil {
		k.TestSamples = set.Len()
	}
	if from := w.Task.Start.Resumed; from != nil {
		k.Changes = from.Kept.Changes
	}
	return k
}

// checkSpace refuses a run if the disk has no room for its checkpoints, including the one in progress.
func (w *Worker) checkSpace(l *train.Loop) error {
	bytes := l.Snapshot().Bytes() + w.heldBytes(len(l.Variables().Weights))
	w.saver.Bytes = bytes + manifestRoom
	want := w.saver.Bytes * int64(max(1, checkpoint.Kept+1-w.Dir.Store().Count()))
	free, total := host.Room(string(w.Dir))
	if total == 0 {
		return nil
	}
	return spaceError(w.Dir.Path(rundir.CheckpointsFolder), want, int64(free))
}

// spaceError returns an error that says how much space is missing; nil if there is enough.
func spaceError(path string, want, free int64) error {
	if free >= want {
		return nil
	}
	return &checkpoint.WriteError{File: path, Err: fmt.Errorf(
		"%d checkpoints and one in progress take %s, the disk has %s: %s are missing; "+
			"make room, or leave out --checkpoint-every", checkpoint.Kept, spelling.Size(want),
		spelling.Size(free), spelling.Size(want-free))}
}

// manifestRoom is an upper bound of the bytes of a checkpoint besides its values.
const manifestRoom = 1 << 20

// newPeerState returns the state in which this worker differs from others, to be completed by join; nil if
// there is none.
func (w *Worker) newPeerState() *snapshot.Peers {
	isServed := w.Config.NumServers() > 0 && w.Config.KeepsCheckpoints() && w.Rank == 0
	if !w.Config.HoldsBack() && !w.Config.IsSharded() && !w.Config.Averages() && !isServed {
		return nil
	}
	return &snapshot.Peers{Plan: w.plan}
}

// stateVectors returns the vectors of the optimizer's state, without values.
func (w *Worker) stateVectors(l *train.Loop) ([]optim.Vector, error) {
	params, _ := optim.Share(l.Parameters(), nil)
	rule, err := optim.New(w.Config.UpdateRule(), w.cpu, nil, params)
	if err != nil {
		return nil, err
	}
	return rule.State(), nil
}

// servedState allocates whole vectors for the state that the servers have; none without servers.
func (w *Worker) servedState(l *train.Loop) ([]checkpoint.Vector, error) {
	if w.served == nil {
		return nil, nil
	}
	state, err := w.stateVectors(l)
	return snapshot.Whole(state, l.Variables()), err
}

// heldBytes returns the size of what is collected in a checkpoint and in rank 0's copy: residuals, what the
// other workers have of their own, or the state of servers.
func (w *Worker) heldBytes(elems int) int64 {
	switch {
	case w.Config.Averages():
		return w.peers.Outer.Bytes()
	case w.served != nil && w.peers != nil:
		return 4 * int64(elems) * int64(len(w.peers.Sharded))
	case !w.Config.HoldsBack():
		return 0
	}
	return 4 * int64(elems) * int64(len(snapshot.Pieces(w.peers.Plan)))
}

// resume restores the training state from the checkpoint into the loop.
func (w *Worker) resume(l *train.Loop) (err error) {
	from := w.Task.Start.Resumed
	c, err := checkpoint.OpenCheckpoint(from.Path)
	if err != nil {
		return err
	}
	k := job.NewKept()
	if err := rundir.Describe(c, &k); err != nil {
		return err
	}
	if c.SHA256 != from.SHA256 {
		return job.Refuse(c, "not the checkpoint that the run was started with")
	}
	if err := w.Task.CheckData(c, k); err != nil {
		return err
	}
	if err := w.restoreVectors(l, c, k); err != nil {
		return err
	}
	if err := l.Resume(k.Progress); err != nil {
		return job.Refuse(c, "%v", err)
	}
	w.before, w.evaluations, w.moves = k, k.Evaluations, k.Moves
	w.started, w.batches = k.Weights, k.Batches
	if w.saver != nil {
		w.saver.Last = k.Progress.Step
	}
	w.Note("going on from %s, after %s", c.Path, spelling.Count(k.Progress.Step, "step"))
	return nil
}

// restoreVectors reads the checkpoint's parameters and state into the loop, the servers, and what ranks keep
// between steps.
func (w *Worker) restoreVectors(l *train.Loop, c *checkpoint.Checkpoint, k job.Kept) error {
	served, err := w.servedState(l)
	if err != nil {
		return err
	}
	if err := snapshot.Restore(l.Snapshot(), c, served); err != nil {
		return err
	}
	if w.served != nil {
		w.served.client.Restore(snapshot.DataOf(served))
	} else if w.peers != nil {
		if err := w.peers.Restore(c, k.Config, l.Variables()); err != nil {
			return err
		}
	}
	if got := l.Variables().SHA256(); got != k.ParameterSHA256 {
		return job.Refuse(c, "parameters hash to %s, want %s", got, k.ParameterSHA256)
	}
	if w.Config.Averages() {
		return w.peers.Outer.Restore(c, l.Variables())
	}
	return nil
}
