package job

import (
	"fmt"
	"slices"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/optim"
	"lockstep/train"
)

// kept is the description of the run in a checkpoint's manifest.
type kept struct {
	// Config is the resolved configuration of the run that wrote the checkpoint, with absolute paths.
	Config setting.Config `json:"config"`
	// Progress is the position of the run.
	Progress train.Progress `json:"progress"`
	// Evaluations so far.
	Evaluations []record.Evaluation `json:"evaluations"`
	// Moves of shards and Growth of the batch so far.
	Moves  []record.Move   `json:"moves"`
	Growth []record.Growth `json:"growth"`
	// Seconds of the training loop so far, with evaluations.
	Seconds float64 `json:"seconds"`
	// Resumed says what the run had done before the part that wrote the checkpoint; nil: nothing, or the
	// checkpoint is an older one, which tells of Parts at most.
	Resumed *record.Resumed `json:"resumed,omitempty"`
	Parts   []record.Part   `json:"parts,omitempty"`
	// Changes are the reasons why the run ends with other bits than an uninterrupted one, see changes.
	Changes []string `json:"changes,omitempty"`
	// Written is the time at which the state was copied; older checkpoints do not tell.
	Written time.Time `json:"written,omitzero"`
	// Weights is the file of weights that the first part of the run started from.
	Weights *record.Start `json:"weights"`
	// Batches counts the batches in the running statistics before the first step.
	Batches int64 `json:"batches"`
	// TrainSamples and TestSamples count the data.
	TrainSamples int `json:"train_samples"`
	TestSamples  int `json:"test_samples"`
	// Data is the hash of the samples; it is empty in older checkpoints.
	Data record.DataHash `json:"data_sha256"`
	// GPU computed on rank 0; nil: the processor did, or the checkpoint is an older one.
	GPU *record.GPU `json:"gpu,omitempty"`
	// ParameterSHA256 is graph.Variables.SHA256.
	ParameterSHA256 string `json:"parameter_sha256"`
}

// saver writes checkpoints to a store. Save copies the state, and a goroutine writes the copy, one at a time.
// Only rank 0 has a saver, because replicas are equal; it collects the state that differs between ranks.
type saver struct {
	store  *checkpoint.Store
	folder string // of the store
	every  setting.Interval
	peers  *peerState // state that differs between ranks; nil: none does
	// describe completes the manifest of a checkpoint.
	describe func(train.Progress) kept
	// metadata of the weights' file.
	metadata map[string]string
	// explain writes what else says what the weights mean, beside all checkpoints.
	explain func() error
	bytes   int64 // upper bound of a checkpoint's size; 0: unknown

	last   int // step of the last checkpoint, or of the one resumed from
	at     time.Time
	copied train.Snapshot // the copy that is being written

	writing chan error // receives the result of the write in progress; nil: none is in progress
	stat    record.Checkpoints
	written struct { // by the goroutine, read when it has ended
		path    string
		bytes   int64
		seconds float64
	}
}

// Save implements train.Checkpointer.
func (s *saver) Save(m train.Snapshot, isLast bool) (bool, error) {
	began := time.Now()
	isWanted, err := s.wants(m.Step, isLast, began)
	if err != nil {
		return false, err
	}
	if isSaved, err := s.peers.keep(isWanted, isLast, &m); err != nil || !isSaved {
		return false, err
	}
	if err := m.Settle(); err != nil {
		return false, err
	}
	s.copy(m)
	if !s.isFinite() {
		return false, nil // the run is about to end as diverged; older checkpoints are better
	}
	s.last, s.at = m.Step, began
	s.writing = make(chan error, 1)
	go s.write(s.describe(m.Progress), s.writing)
	s.stat.ExposedSeconds += time.Since(began).Seconds()
	return true, nil
}

// wants reports whether a checkpoint of this step is due and can be written.
func (s *saver) wants(step int, isLast bool, now time.Time) (bool, error) {
	if step == s.last || !isLast && !s.isDue(step, now) {
		return false, s.poll()
	}
	var err error
	if isLast {
		err = s.wait()
	} else {
		err = s.poll()
	}
	if err == nil && s.writing != nil {
		s.stat.Late++
	}
	return s.writing == nil, err
}

// isDue reports whether a multiple of the interval lies between the last checkpoint and now.
func (s *saver) isDue(step int, now time.Time) bool {
	if n := s.every.Steps; n > 0 {
		return step/n > s.last/n
	}
	return now.Sub(s.at) >= s.every.Time
}

// copy copies the values of the snapshot. It allocates only in the first call.
func (s *saver) copy(m train.Snapshot) {
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

func clones(vectors []optim.Vector) []optim.Vector {
	all := slices.Clone(vectors)
	for i := range all {
		all[i].Data = slices.Clone(all[i].Data)
	}
	return all
}

func copyAll(dst, src []optim.Vector) {
	for i, v := range src {
		copy(dst[i].Data, v.Data)
	}
}

// isFinite reports whether all copied values are finite, as readers of checkpoints require.
func (s *saver) isFinite() bool {
	m := s.copied
	values := []optim.Vector{{Data: m.Variables.Weights}, {Data: m.Variables.State}}
	for _, v := range slices.Concat(values, m.Optimizer, m.Statistics) {
		if !areFinite(v.Data) {
			return false
		}
	}
	return s.peers.isFinite()
}

// write writes the copy to the store.
func (s *saver) write(k kept, done chan<- error) {
	began := time.Now()
	v := s.copied.Variables
	k.ParameterSHA256 = v.SHA256()
	batches := k.Batches + k.Progress.NumShards(k.Config.StepShards())
	c, err := s.store.Commit(k.Progress.Step, k, append([]checkpoint.File{
		checkpoint.Weights(v, batches, s.metadata), keptOf(s.copied, s.peers.vectors()).File(
			checkpoint.OptimizerFile, v)}, s.peers.files(v)...))
	if err == nil && s.written.path == "" {
		err = s.explain()
	}
	if err == nil {
		s.written.path, s.written.bytes = c.Path, c.Bytes()
	}
	s.written.seconds = time.Since(began).Seconds()
	done <- withRoom(err, s.folder, "up to "+setting.Size(s.bytes))
}

// keptOf returns the optimizer's vectors, with whole ones from sharded in place of the shards.
func keptOf(m train.Snapshot, sharded []checkpoint.Vector) checkpoint.Vectors {
	return checkpoint.Vectors{Weights: append(vectorsOf(m.Optimizer), sharded...),
		Statistics: vectorsOf(m.Statistics)}
}

// vectorsOf names an optimizer's vectors for package checkpoint.
func vectorsOf(state []optim.Vector) []checkpoint.Vector {
	vectors := make([]checkpoint.Vector, len(state))
	for i, v := range state {
		vectors[i] = checkpoint.Vector(v)
	}
	return vectors
}

// poll takes the result of a write that has ended.
func (s *saver) poll() error {
	select {
	case err := <-s.writing:
		return s.ended(err)
	default:
		return nil
	}
}

// wait waits for the write in progress, if there is one.
func (s *saver) wait() error {
	if s.writing == nil {
		return nil
	}
	return s.ended(<-s.writing)
}

func (s *saver) ended(err error) error {
	s.writing = nil
	s.stat.WritingSeconds += s.written.seconds
	if err == nil {
		s.stat.Count++
		s.stat.Bytes += s.written.bytes
		s.stat.Last = s.written.path
	}
	return err
}

// newSaver returns the saver of this worker; nil if it writes no checkpoints.
func (w *worker) newSaver() *saver {
	if !w.config.KeepsCheckpoints() || w.rank != 0 || w.config.EvalOnly {
		return nil
	}
	return &saver{store: w.dir.Store(), folder: w.dir.Path(rundir.CheckpointsFolder),
		every: w.config.CheckpointInterval(), peers: w.peers,
		describe: w.describe, metadata: w.metadata(), explain: w.savePretrained, at: time.Now()}
}

// describe returns the description of the run for a checkpoint's manifest.
func (w *worker) describe(p train.Progress) kept {
	k := kept{Config: w.config.Rooted(), Progress: p, Evaluations: slices.Clone(w.evaluations),
		Moves: slices.Clone(w.moves), Growth: slices.Clone(w.growth),
		Seconds: w.before.Seconds + time.Since(w.began).Seconds(), Weights: w.started, Batches: w.batches,
		TrainSamples: w.task.train.Len(), Data: w.task.hashes, GPU: w.gpuKind(),
		Written: time.Now().UTC()}
	if set := w.task.scored(); set != nil {
		k.TestSamples = set.Len()
	}
	if from := w.task.start.Resumed; from != nil {
		k.Resumed, k.Changes = w.before.resumed(from.Path), from.Kept.Changes
	}
	return k
}

// resumed returns what a run that goes on from k, a checkpoint at path, had done before.
func (k kept) resumed(path string) *record.Resumed {
	return &record.Resumed{From: path, Steps: k.Progress.Step, Samples: k.Progress.Samples,
		Seconds: k.Seconds, TrainSeconds: k.Progress.Trained.Seconds(), Parts: k.parts()}
}

// before returns what the run had done before the part that wrote the checkpoint; nil: nothing, as far as it
// tells.
func (k kept) before() *record.Resumed {
	if n := len(k.Parts); k.Resumed == nil && n > 0 {
		return &record.Resumed{Steps: k.Parts[n-1].Steps, Parts: k.Parts}
	}
	return k.Resumed
}

// parts returns the parts of the run up to the checkpoint. Parts in a row that were done alike are one.
func (k kept) parts() []record.Part {
	last := record.Part{Steps: k.Progress.Step, Workers: k.Config.Workers, Threads: k.Config.Threads,
		Strategy: k.Config.Strategy}
	var parts []record.Part
	if before := k.before(); before != nil {
		parts = slices.Clone(before.Parts)
	}
	if n := len(parts); n > 0 && parts[n-1].IsLike(last) {
		parts = parts[:n-1]
	}
	return append(parts, last)
}

// checkSpace refuses a run if the disk has no room for its checkpoints, including the one in progress.
func (w *worker) checkSpace(l *train.Loop) error {
	bytes := l.Snapshot().Bytes() + w.heldBytes(len(l.Variables().Weights))
	w.saver.bytes = bytes + manifestRoom
	want := w.saver.bytes * int64(max(1, checkpoint.Kept+1-w.dir.Store().Count()))
	free, isKnown := w.dir.FreeBytes()
	if !isKnown {
		return nil
	}
	return spaceError(w.dir.Path(rundir.CheckpointsFolder), want, free)
}

// spaceError returns an error that says how much space is missing; nil if there is enough.
func spaceError(path string, want, free int64) error {
	if free >= want {
		return nil
	}
	return &checkpoint.WriteError{File: path, Err: fmt.Errorf(
		"%d checkpoints and one in progress take %s, the disk has %s: %s are missing; "+
			"make room, or leave out --checkpoint-every", checkpoint.Kept, setting.Size(want),
		setting.Size(free), setting.Size(want-free))}
}

// withRoom adds to the error of writing so much to a disk that is full which disk it is and what it has.
func withRoom(err error, folder, size string) error {
	if !isFull(err) {
		return err
	}
	free, _ := host.Room(folder)
	return fmt.Errorf("%w: it takes %s, and the file system at %s has %s left; make room there", err,
		size, host.Mount(folder), setting.Size(int64(free)))
}

// manifestRoom is an upper bound of the bytes of a checkpoint besides its values.
const manifestRoom = 1 << 20
