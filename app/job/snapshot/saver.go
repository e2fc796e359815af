package snapshot

import (
	"fmt"
	"slices"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// Saver writes checkpoints to a store. Save copies the state, and a goroutine writes the copy, one at a time.
// Only rank 0 has one, because replicas are equal; it collects the state that differs between ranks.
type Saver struct {
	Store  *checkpoint.Store
	Folder string // of the store
	Every  setting.Interval
	Peers  *Peers // state that differs between ranks; nil: none does
	// describe completes the manifest of a checkpoint.
	Describe func(train.Progress) job.Kept
	// Metadata of the weights' file.
	Metadata map[string]string
	// Explain writes what else says what the weights mean, beside all checkpoints.
	Explain func() error
	Bytes   int64 // upper bound of a checkpoint's size; 0: unknown

	Last   int // step of the last checkpoint, or of the one resumed from
	At     time.Time
	copied train.Snapshot // the copy that is being written

	writing chan error // receives the result of the write in progress; nil: none is in progress
	Stat    record.Checkpoints
	written struct { // by the goroutine, read when it has ended
		path    string
		bytes   int64
		seconds float64
	}
}

// Save implements train.Checkpointer.
func (s *Saver) Save(m train.Snapshot, isLast bool) (bool, error) {
	began := time.Now()
	isWanted, err := s.wants(m.Step, isLast, began)
	if err != nil {
		return false, err
	}
	if isSaved, err := s.Peers.keep(isWanted, isLast, &m); err != nil || !isSaved {
		return false, err
	}
	if err := m.Settle(); err != nil {
		return false, err
	}
	s.copy(m)
	s.Last, s.At = m.Step, began
	s.writing = make(chan error, 1)
	go s.write(s.Describe(m.Progress), s.writing)
	s.Stat.ExposedSeconds += time.Since(began).Seconds()
	return true, nil
}

// wants reports whether a checkpoint of this step is due and can be written.
func (s *Saver) wants(step int, isLast bool, now time.Time) (bool, error) {
	if step == s.Last || !isLast && !s.isDue(step, now) {
		return false, s.poll()
	}
	var err error
	if isLast {
		err = s.Wait()
	} else {
		err = s.poll()
	}
	if err == nil && s.writing != nil {
		s.Stat.Late++
	}
	return s.writing == nil, err
}

// isDue reports whether a multiple of the interval lies between the last checkpoint and now.
func (s *Saver) isDue(step int, now time.Time) bool {
	if n := s.Every.Steps; n > 0 {
		return step/n > s.Last/n
	}
	return now.Sub(s.At) >= s.Every.Time
}

// copy copies the values of the snapshot. It allocates only in the first call.
func (s *Saver) copy(m train.Snapshot) {
	if s.copied.Variables == nil {
		variables := *m.Variables
		variables.Weights = slices.Clone(variables.Weights)
		variables.State = slices.Clone(variables.State)
		s.copied.Variables = &variables
		s.copied.Optimizer, s.copied.Statistics = clones(m.Optimizer), clones(m.Statistics)
		return
	}
	copy(s.copied.Variables.Weights, m.Variables.Weights)
	copy(s.copied.Variables.State, m.Variables.State)
	copyAll(s.copied.Optimizer, m.Optimizer)
	copyAll(s.copied.Statistics, m.Statistics)
}

// write writes the copy to the store.
func (s *Saver) write(k job.Kept, done chan<- error) {
	began := time.Now()
	v := s.copied.Variables
	k.ParameterSHA256 = v.SHA256()
	batches := k.Batches + int64(k.Progress.Step)*int64(k.Config.StepShards())
	c, err := s.Store.Commit(k.Progress.Step, k, append([]checkpoint.File{
		checkpoint.Weights(v, batches, s.Metadata), keptOf(s.copied, s.Peers.vectors()).File(
			checkpoint.OptimizerFile, v)}, s.Peers.files(v)...))
	if err == nil && s.written.path == "" {
		err = s.Explain()
	}
	if err == nil {
		s.written.path, s.written.bytes = c.Path, c.Bytes()
	}
	s.written.seconds = time.Since(began).Seconds()
	done <- WithRoom(err, s.Folder, "up to "+spelling.Size(s.Bytes))
}

// keptOf returns the optimizer's vectors, with whole ones from sharded in place of the shards.
func keptOf(m train.Snapshot, sharded []checkpoint.Vector) checkpoint.Vectors {
	return checkpoint.Vectors{Weights: append(vectorsOf(m.Optimizer), sharded...),
		Statistics: vectorsOf(m.Statistics)}
}

// poll takes the result of a write that has ended.
func (s *Saver) poll() error {
	select {
	case err := <-s.writing:
		return s.ended(err)
	default:
		return nil
	}
}

// Wait waits for the write in progress, if there is one.
func (s *Saver) Wait() error {
	if s.writing == nil {
		return nil
	}
	return s.ended(<-s.writing)
}

func (s *Saver) ended(err error) error {
	s.writing = nil
	s.Stat.WritingSeconds += s.written.seconds
	if err == nil {
		s.Stat.Count++
		s.Stat.Bytes += s.written.bytes
		s.Stat.Last = s.written.path
	}
	return err
}

// WithRoom adds to the error of writing so much to a disk that is full which disk it is and what it has.
func WithRoom(err error, folder, size string) error {
	if !job.IsFull(err) {
		return err
	}
	free, _ := host.Room(folder)
	return fmt.Errorf("%w: it takes %s, and the file system of %s has %s left; make room there", err,
		size, folder, spelling.Size(int64(free)))
}

// Restore reads a checkpoint's files into the vectors of a snapshot, and into the state that servers have.
func Restore(m train.Snapshot, c *checkpoint.Checkpoint, served []checkpoint.Vector) error {
	err := job.WithFile(c.File(checkpoint.WeightsFile), func(r *checkpoint.Reader) error {
		_, err := checkpoint.Load(r, m.Variables, checkpoint.LoadOptions{})
		return err
	})
	if err != nil {
		return err
	}
	sharded := Whole(m.Sharded, m.Variables)
	err = job.WithFile(c.File(checkpoint.OptimizerFile), func(r *checkpoint.Reader) error {
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
