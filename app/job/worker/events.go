package worker

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/tensorboard"
	"lockstep/trace"
	"lockstep/train"
)

// eventsPattern is that of the names of the files in it, below the run directory.
const EventsPattern = rundir.EventsFolder + "/rank*/events.out.tfevents.*"

// eventsEvery is the least time between two steps that are written. A file with every step of a small
// network would grow by a hundred megabytes an hour.
const eventsEvery = 100 * time.Millisecond

// events writes a worker's metrics for TensorBoard.
type events struct {
	writer  *tensorboard.Writer
	speaks  bool // also write the metrics that are the same on all ranks
	scalars []tensorboard.Scalar
	tags    [trace.NumPhases]string
	next    time.Time // when a step is due
	flushed time.Time
	err     error // the first
}

// openEvents creates the file of a rank. If speaks is set, it also holds the metrics that are the same on all
// ranks. So many steps were done before.
func openEvents(dir rundir.Directory, rank int, speaks bool, done int) (*events, error) {
	w, err := tensorboard.Create(filepath.Join(dir.Path(rundir.EventsFolder), fmt.Sprintf("rank%d", rank)),
		time.Now(), int64(done)+1)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	e := &events{writer: w, speaks: speaks}
	for p := range e.tags {
		e.tags[p] = "phase ms/" + trace.Phase(p).String()
	}
	return e, nil
}

// step writes a finished step if one is due, with bytes and processor time per second. onGPU is the memory in
// use on the GPU, 0 without one.
func (e *events) step(now time.Time, s train.Step, u host.Usage, onGPU int64) {
	wall := u.Wall.Seconds()
	if now.Before(e.next) || wall <= 0 {
		return
	}
	e.next = now.Add(eventsEvery)
	e.scalars = append(e.scalars[:0],
		tensorboard.Scalar{Tag: "step/ms", Value: 1e3 * s.Time.Seconds()},
		tensorboard.Scalar{Tag: "worker/CPUs", Value: u.CPU.Seconds() / wall},
		tensorboard.Scalar{Tag: "worker/memory bytes", Value: float64(u.RSS)},
		tensorboard.Scalar{Tag: "worker/sent bytes per s", Value: float64(u.Sent) / wall},
		tensorboard.Scalar{Tag: "worker/received bytes per s", Value: float64(u.Received) / wall})
	for p, d := range s.Phases {
		e.scalars = append(e.scalars, tensorboard.Scalar{Tag: e.tags[p], Value: 1e3 * d.Seconds()})
	}
	if onGPU > 0 {
		e.scalars = append(e.scalars,
			tensorboard.Scalar{Tag: "worker/GPU memory bytes", Value: float64(onGPU)})
	}
	if e.speaks {
		e.scalars = append(e.scalars, tensorboard.Scalar{Tag: "loss/train", Value: s.Loss},
			tensorboard.Scalar{Tag: "learning rate", Value: s.Rate})
	}
	e.writer.Add(now, int64(s.Number+1), e.scalars...)
	e.flush(now)
}

// evaluation writes the result of an evaluation, if e.speaks; accuracy is NaN if the task has none.
func (e *events) evaluation(now time.Time, v train.Evaluation, accuracy record.Number) {
	if !e.speaks {
		return
	}
	e.scalars = append(e.scalars[:0], tensorboard.Scalar{Tag: "loss/" + v.Part(), Value: v.Loss})
	if !math.IsNaN(float64(accuracy)) {
		e.scalars = append(e.scalars,
			tensorboard.Scalar{Tag: "accuracy/" + v.Part(), Value: float64(accuracy)})
	}
	for _, m := range v.Metrics {
		e.scalars = append(e.scalars, tensorboard.Scalar{Tag: m.Name + "/" + v.Part(), Value: m.Value})
	}
	e.writer.Add(now, int64(v.Steps), e.scalars...)
	e.flush(now)
}

// flush makes events visible every second.
func (e *events) flush(now time.Time) {
	if now.Sub(e.flushed) >= time.Second {
		e.err = e.writer.Flush()
		e.flushed = now
	}
}

// close flushes and closes the file and returns the first error.
func (e *events) close() error { return e.writer.Close() }
