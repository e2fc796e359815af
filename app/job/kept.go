package job

import (
	"errors"
	"fmt"
	"time"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/train"
)

// Kept is the description of the run in a checkpoint's manifest.
type Kept struct {
	// Config is the resolved configuration of the run that wrote the checkpoint, with absolute paths.
	Config setting.Config `json:"config"`
	// Progress is the position of the run.
	Progress train.Progress `json:"progress"`
	// Evaluations so far.
	Evaluations []record.Evaluation `json:"evaluations"`
	// Moves of shards so far.
	Moves []record.Move `json:"moves"`
	// Seconds of the training loop so far, with evaluations.
	Seconds float64 `json:"seconds"`
	// Changes are the reasons why the run ends with other bits than an uninterrupted one, see changes.
	Changes []string `json:"changes,omitempty"`
	// Written is the time at which the state was copied.
	Written time.Time `json:"written"`
	// Weights is the file of weights that the first part of the run started from.
	Weights *record.Start `json:"weights"`
	// Batches counts the batches in the running statistics before the first step.
	Batches int64 `json:"batches"`
	// TrainSamples and TestSamples count the data.
	TrainSamples int `json:"train_samples"`
	TestSamples  int `json:"test_samples"`
	// Data is the hash of the samples.
	Data record.DataHash `json:"data_sha256"`
	// ParameterSHA256 is graph.Variables.SHA256.
	ParameterSHA256 string `json:"parameter_sha256"`
}

// Resumption is the checkpoint to resume from, as found by the launcher. Every worker reads the checkpoint
// itself and verifies that it is the same.
type Resumption struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the manifest
	Kept   Kept   `json:"-"`      // not sent, since it grows with the run; workers read it themselves
}

// NewKept returns a kept to decode a manifest into. It has defaults for settings that are newer than the
// checkpoint.
func NewKept() Kept { return Kept{Config: setting.Default()} }

// OpenNewest returns the newest valid checkpoint of a run directory. It calls note for each damaged one.
func OpenNewest(d rundir.Directory, note func(string)) (*Resumption, error) {
	r := &Resumption{Kept: NewKept()}
	c, err := d.Newest(&r.Kept, note)
	if err != nil {
		return nil, err
	}
	r.Path, r.SHA256 = c.Path, c.SHA256
	return r, nil
}

// Refuse says why the run cannot go on from a checkpoint.
func Refuse(c *checkpoint.Checkpoint, format string, args ...any) error {
	return &checkpoint.FormatError{File: c.Path, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// WithFile opens a safetensors file, calls use, and closes it.
func WithFile(path string, use func(*checkpoint.Reader) error) error {
	r, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.Close())
}

// Summary returns the record of the steps done before; nil without a resumption.
func (r *Resumption) Summary() *record.Resumed {
	if r == nil {
		return nil
	}
	p := r.Kept.Progress
	return &record.Resumed{From: r.Path, Steps: p.Step, Samples: p.Samples, Seconds: r.Kept.Seconds,
		TrainSeconds: p.Trained.Seconds()}
}
