package job

import (
	"context"
	"errors"
	"io"
	"time"
)

// Options say how Run behaves towards its caller; none of them changes the result.
type Options struct {
	Progress func(Progress)    // called from one goroutine, about 10 times a second; may be nil
	Stderr   io.Writer         // warnings and notes; nil: discarded
	Origins  map[string]string // where each value of the Config came from, for config.yaml
	Isolate  bool              // run even a single worker as a process of its own
	Worker   []string          // command of a worker process; nil: this binary with "worker"
}

// Progress is a moment of a run.
type Progress struct {
	Phase       string        // loading, training, evaluation, ...
	Step, Steps int           // finished steps of all
	Epoch       int           // from 0
	Epochs      float64       // length of the run in epochs
	Loss        float64       // mean of the last step, over the global batch
	Samples     int64         // finished, over all workers
	Elapsed     time.Duration // since training began
	Remaining   time.Duration // estimate; 0 while unknown
}

// Run executes the run c describes: it creates the run directory, starts the workers, waits for
// all of them, then writes and returns the summary. Values left open in c ("", 0) are resolved
// first. A cancelled context stops every worker; the error is then context.Canceled.
func Run(ctx context.Context, c Config, o Options) (*Summary, error) {
	return nil, errors.New("job: run: workers are not wired yet")
}
