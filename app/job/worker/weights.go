package worker

import (
	"errors"
	"fmt"
	"os"

	"lockstep/app/job/input"
	"lockstep/app/job/snapshot"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/checkpoint"
	"lockstep/graph"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// keepBest writes the weights of the best evaluation so far, with what says what they mean, to a folder of
// their own, on rank 0 only. Infer and --weights read it as they read the run's.
func (w *Worker) keepBest(e train.Evaluation) error {
	c := w.Config
	if !c.Save || w.Rank != 0 {
		return nil
	}
	dir := rundir.Directory(w.Dir.Path(rundir.BestFolder))
	err := os.MkdirAll(string(dir), 0o777)
	if err == nil {
		batches := w.batches + int64(e.Steps)*int64(c.StepShards())
		_, err = checkpoint.Save(dir.Path(checkpoint.WeightsFile), w.variables, batches, w.metadata())
	}
	if err == nil {
		err = dir.Write(rundir.ConfigFile, c.Rooted().YAML(nil))
	}
	if err == nil {
		err = w.explain(dir)
	}
	return err
}

// explain writes the configuration of a text model and its vocabulary to a folder with its weights.
func (w *Worker) explain(dir rundir.Directory) error {
	texts := w.Task.Train.Texts
	if texts == nil {
		return nil
	}
	return input.WritePretrained(dir, w.Task.Network, w.Task.Train.Classes, texts.Tokenizer)
}

// weights are those that a worker starts from and those that it leaves.
type weights struct {
	started *record.Start // nil: none were loaded
	batches int64         // in the loaded running statistics
	saved   *record.Saved // nil: none were written
}

// start loads the weights that the run starts from, if any, into v.
func (w *Worker) start(v *graph.Variables) (err error) {
	from := w.Task.Start.Weights
	if from == nil {
		return nil
	}
	r, err := checkpoint.Open(from.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sum, err := r.SHA256()
	if err != nil {
		return err
	}
	if sum != from.SHA256 {
		return &checkpoint.FormatError{File: r.Path, Offset: -1, Reason: fmt.Sprintf(
			"not the file that the run was started with: sha256 %s, want %s", sum, from.SHA256)}
	}
	loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{FreshHead: w.Config.FreshHead,
		Optional: w.Task.Network.Optional()})
	if err != nil {
		if mismatch := (*checkpoint.MatchError)(nil); errors.As(err, &mismatch) {
			mismatch.OnlyHead = mismatch.OnlyHead && !w.Config.EvalOnly // which has no --fresh-head
		}
		return err
	}
	w.started = &record.Start{Path: from.Path, SHA256: sum, Tensors: loaded.Tensors, Fresh: loaded.Fresh,
		Unused: loaded.Unused, Mean: w.Task.Train.Mean, Std: w.Task.Train.Std}
	w.batches = loaded.Batches
	w.Note("%d tensors from %s, sha256 %s; fresh: %q; unused: %q", loaded.Tensors, from.Path, sum,
		loaded.Fresh, loaded.Unused)
	if len(loaded.Fresh) > 0 {
		w.Announce(fmt.Sprintf("note: %s: initialised at random, as --fresh-head allows: %s", from.Path,
			spelling.Few(loaded.Fresh)))
	}
	return nil
}

// save writes the trained weights to the run directory, on rank 0 only because all replicas are equal.
func (w *Worker) save(v *graph.Variables, shards int64) error {
	c := w.Config
	if !c.Save || c.EvalOnly || c.IsIsolated() || w.Rank != 0 {
		return nil
	}
	batches := w.batches + shards // updates of the running statistics
	bytes, err := checkpoint.Weights(v, batches, w.metadata()).Bytes()
	if err != nil {
		return err
	}
	path := w.Dir.Path(checkpoint.WeightsFile)
	sum, err := checkpoint.Save(path, v, batches, w.metadata())
	if err == nil {
		w.saved = &record.Saved{Path: path, SHA256: sum}
		err = w.explain(w.Dir)
	}
	return snapshot.WithRoom(err, w.Dir.Path("."), spelling.Size(bytes))
}

// metadata returns the metadata of saved weights: what outputs mean, and how images are normalised.
func (w *Worker) metadata() map[string]string {
	set := w.Task.Train
	return checkpoint.Description{Classes: set.Classes, Mean: set.Mean, Std: set.Std,
		Input: set.Shape, Table: set.Table, Values: set.Predicts()}.Metadata()
}
