package rundir

import (
	"encoding/json"
	"errors"
	"fmt"

	"lockstep/checkpoint"
)

// Store returns the run's checkpoints.
func (d Directory) Store() *checkpoint.Store {
	return checkpoint.NewStore(d.Path(CheckpointsFolder))
}

// Newest returns the newest valid checkpoint of a run, and fills kept with what its manifest says about the
// run. It tells note about those that are damaged.
func (d Directory) Newest(kept any, note func(string)) (*checkpoint.Checkpoint, error) {
	c, faults, err := d.Store().Newest()
	if none := (*checkpoint.NoneError)(nil); errors.As(err, &none) && len(absent(string(d))) > 0 {
		none.Absent = string(d)
	}
	if err != nil {
		return nil, err
	}
	if err := Describe(c, kept); err != nil {
		return nil, err
	}
	for _, fault := range faults {
		note(fmt.Sprintf("damaged checkpoint: %v; going back to %s", fault, c.Path))
	}
	return c, nil
}

// Describe fills kept with what a checkpoint's manifest says about the run.
func Describe(c *checkpoint.Checkpoint, kept any) error {
	if err := json.Unmarshal(c.Run, kept); err != nil {
		return &checkpoint.FormatError{File: c.File(checkpoint.ManifestFile), Offset: -1,
			Reason: fmt.Sprintf("run: %v", err)}
	}
	return nil
}
