package job

import (
	"errors"
	"fmt"
	"os"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// resumption is the checkpoint to resume from, as found by the launcher. Every worker reads the checkpoint
// itself and verifies that it is the same.
type resumption struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the manifest
	Kept   kept   `json:"-"`      // not sent, since it grows with the run; workers read it themselves
}

// newKept returns a kept to decode a manifest into. It has defaults for settings that are newer than the
// checkpoint.
func newKept() kept { return kept{Config: setting.Default()} }

// openNewest returns the newest valid checkpoint of a run directory. It calls note for each damaged one.
func openNewest(d rundir.Directory, note func(string)) (*resumption, error) {
	r := &resumption{Kept: newKept()}
	c, err := d.Newest(&r.Kept, note)
	if err != nil {
		return nil, err
	}
	r.Path, r.SHA256 = c.Path, c.SHA256
	return r, nil
}

// resume restores the training state from the checkpoint into the loop.
func (w *worker) resume(l *train.Loop) (err error) {
	from := w.task.start.Resumed
	c, err := checkpoint.OpenCheckpoint(from.Path)
	if err != nil {
		return err
	}
	k := newKept()
	if err := rundir.Describe(c, &k); err != nil {
		return err
	}
	if c.SHA256 != from.SHA256 {
		return refuse(c, "not the checkpoint that the run was started with")
	}
	if err := w.task.checkData(c, k); err != nil {
		return err
	}
	if err := w.restoreVectors(l, c, k); err != nil {
		return err
	}
	if err := l.Resume(k.Progress); err != nil {
		return refuse(c, "%v", err)
	}
	w.before, w.evaluations, w.moves, w.growth = k, k.Evaluations, k.Moves, k.Growth
	w.started, w.batches = k.Weights, k.Batches
	if w.saver != nil {
		w.saver.last = k.Progress.Step
	}
	w.note("going on from %s, after %s", c.Path, spelling.Count(k.Progress.Step, "step"))
	return nil
}

// refuse says why the run cannot go on from a checkpoint.
func refuse(c *checkpoint.Checkpoint, format string, args ...any) error {
	return &checkpoint.FormatError{File: c.Path, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// checkData refuses a checkpoint of a run with other data.
func (t task) checkData(c *checkpoint.Checkpoint, k kept) error {
	test := 0
	if set := t.scored(); set != nil {
		test = set.Len()
	}
	switch {
	case t.train.Len() != k.TrainSamples || test != k.TestSamples:
		return refuse(c, "the run has %d training and %d test samples, the data %d and %d",
			k.TrainSamples, k.TestSamples, t.train.Len(), test)
	case k.Data != record.DataHash{} && k.Data != t.hashes:
		return refuse(c, "the data has changed: training and test samples have %v, those of the run %v",
			t.hashes, k.Data)
	}
	return nil
}

// restoreVectors reads the checkpoint's parameters and state into the loop, the servers, and what ranks keep
// between steps.
func (w *worker) restoreVectors(l *train.Loop, c *checkpoint.Checkpoint, k kept) error {
	served, err := w.servedState(l)
	if err != nil {
		return err
	}
	if err := restore(l.Snapshot(), c, served); err != nil {
		return err
	}
	if w.served != nil {
		w.served.client.Restore(dataOf(served))
	} else if w.peers != nil {
		if err := w.peers.restore(c, k.Config, l.Variables()); err != nil {
			return err
		}
	}
	if got := l.Variables().SHA256(); got != k.ParameterSHA256 {
		return refuse(c, "parameters hash to %s, want %s", got, k.ParameterSHA256)
	}
	if w.config.Averages() {
		return w.peers.outer.restore(c, l.Variables())
	}
	return nil
}

// restore reads a checkpoint's files into the vectors of a snapshot, and into the state that servers have.
func restore(m train.Snapshot, c *checkpoint.Checkpoint, served []checkpoint.Vector) error {
	err := withFile(c.File(checkpoint.WeightsFile), func(r *checkpoint.Reader) error {
		_, err := checkpoint.Load(r, m.Variables, checkpoint.LoadOptions{})
		return err
	})
	if err != nil {
		return err
	}
	sharded := whole(m)
	err = withFile(c.File(checkpoint.OptimizerFile), func(r *checkpoint.Reader) error {
		return keptOf(m, append(sharded, served...)).Load(r, m.Variables)
	})
	for i, v := range m.Sharded {
		at := 0
		for _, share := range m.Shares {
			at += copy(v.Data[at:], sharded[i].Data[share[0]:share[1]])
		}
	}
	return err
}

// withFile opens a safetensors file, calls use, and closes it.
func withFile(path string, use func(*checkpoint.Reader) error) error {
	r, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.Close())
}

// summary returns the record of the steps done before; nil without a resumption.
func (r *resumption) summary() *record.Resumed {
	if r == nil {
		return nil
	}
	return r.Kept.resumed(r.Path)
}

// beginning is a checkpoint or a file of weights to start from; without either, parameters are initialized
// at random.
type beginning struct {
	Weights *weights    `json:"weights"`
	Resumed *resumption `json:"resumed"`
}

// openStart opens and verifies the checkpoint or the weights that the run starts from.
func openStart(c setting.Config, note func(string)) (b beginning, err error) {
	path := c.Weights
	if c.Resume != "" {
		if b.Resumed, err = openNewest(rundir.Directory(c.Resume), note); err != nil {
			return b, err
		}
		if err = checkLength(c, b.Resumed.Kept); err != nil {
			return b, err
		}
		if err = checkMemory(c, b.Resumed.Kept.Config); err != nil {
			return b, err
		}
		if err = checkAverages(c, b.Resumed.Kept.Config); err != nil {
			return b, err
		}
		path = b.Resumed.Path // normalise images as before
	}
	if path != "" {
		b.Weights, err = openWeights(path)
	}
	if newest := Unended(c.Weights); newest != "" && c.Resume == "" {
		if err != nil {
			return b, fmt.Errorf("%w; the run there has not ended: want --weights %s", err,
				spelling.Word(newest))
		}
		note(fmt.Sprintf("warning: --weights %s: these weights are from before the run was resumed; the "+
			"newest are in %s", spelling.Word(c.Weights), spelling.Word(newest)))
	}
	return b, err
}

// Unended returns the newest checkpoint of the run in folder if that goes on or ended early, also after it
// was resumed; else "".
func Unended(folder string) string {
	d := rundir.Directory(folder)
	if _, err := os.Stat(d.Path(rundir.SummaryFile)); folder == "" || err == nil {
		return ""
	}
	newest, _, err := d.Store().Newest()
	if err != nil {
		return ""
	}
	return newest.Path
}

// checkLength refuses a length that the run has already passed.
func checkLength(c setting.Config, k kept) error {
	if c.For != "" || k.Progress.Step <= k.length(c) {
		return nil
	}
	if c.Steps > 0 {
		return setting.Refuse("--steps: the run that is resumed has done %d steps, want at least as many, "+
			"got %d", k.Progress.Step, c.Steps)
	}
	return setting.Refuse("--epochs: the run that is resumed has done %d steps, want at least as many, got "+
		"%s, which are %d", k.Progress.Step, spelling.Count(c.Epochs, "epoch"), k.length(c))
}

// length returns how many steps a run of c that has come to k has in all, with the batch that it has grown
// to.
func (k kept) length(c setting.Config) int {
	if part := k.Progress.Part; c.IsAdaptive() && part.Factor > 0 {
		c.Batch *= part.Factor
		return part.Step + (c.Epochs-part.Epoch)*c.StepsPerEpoch(k.TrainSamples)
	}
	return c.NumSteps(k.TrainSamples)
}

// checkMemory refuses a change of workers that would lose the residuals of error feedback.
func checkMemory(c, from setting.Config) error {
	if !from.HoldsBack() || c.HoldsBack() {
		return nil
	}
	return setting.Refuse("--workers: one worker exchanges nothing, and "+
		"would lose the gradients that %d held back with --wire %s; want at least 2", from.Workers, from.Wire)
}
