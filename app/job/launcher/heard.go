package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"sync"

	"lockstep/app/job"
	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/data"
)

// keep appends a part to its file in the run directory, and writes nothing outside of that.
func (r *heard) keep(p job.Part) error {
	isEvents, _ := path.Match(worker.EventsPattern, p.Name) // the pattern is well formed
	isLines := p.Name == rundir.StepsFile || p.Name == rundir.UpdatesFile
	if !isLines && !isEvents && !rundir.IsSpans(p.Name) {
		return fmt.Errorf("job: %.80q is no file that a worker writes", p.Name)
	}
	if p.Name == rundir.UpdatesFile {
		return r.dir.KeepUpdates(p.Bytes)
	}
	root, err := os.OpenRoot(string(r.dir))
	if err != nil {
		return err
	}
	defer root.Close() // it holds no data
	if err := root.MkdirAll(path.Dir(p.Name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(p.Name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(p.Bytes)
	return errors.Join(err, f.Close())
}

// heard collects the notices of all workers for the launcher. Workers of one process send them concurrently.
type heard struct {
	dir         rundir.Directory // of the run
	mu          sync.Mutex
	evaluations []record.Evaluation
	buckets     map[int][]record.BucketStat // by rank
	servers     []record.ServerStat
	async       *record.Async
	lostWorkers []record.LostWorker
	lost        []record.Lost
	moves       []record.Move
	data        map[int]record.DataHash // by rank; empty if the workers share one process and its data
	isLab       bool                    // all hosts are this machine
	coreShare   float64                 // of a core, for each compute thread
	network     string                  // the name of it, or its file
	source      string                  // what the workers load, and what makes them load the same
	remedy      string
	warn, say   func(text string)
	show        func(record.Evaluation)
}

// newHeard returns the state of a run of c, resumed from there or, if that is nil, new. It passes notes
// and evaluations on to o.
func newHeard(c setting.Config, from *job.Resumption, o Options) *heard {
	r := &heard{buckets: map[int][]record.BucketStat{}, data: map[int]record.DataHash{},
		network: c.Model, source: c.Data, remedy: "every worker needs the same files",
		warn: o.warn, say: o.say, show: o.show,
		isLab: o.Environment[cluster.EnvLab] != "", coreShare: o.coreShare(c)}
	if c.Datasets().IsOwn(c.Data) {
		r.remedy = "its function must return the same samples in every worker; is it seeded?"
	}
	if from != nil {
		r.evaluations = slices.Clone(from.Kept.Evaluations)
		r.moves = slices.Clone(from.Kept.Moves)
	}
	return r
}

// take handles a notice.
func (r *heard) take(rank int, n job.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case n.Evaluation != nil:
		r.evaluations = append(r.evaluations, *n.Evaluation)
		r.keepEvaluation(*n.Evaluation)
		r.show(*n.Evaluation)
	case n.Bucket != nil:
		r.buckets[rank] = append(r.buckets[rank], *n.Bucket)
	case n.Server != nil:
		r.servers = append(r.servers, *n.Server)
	case n.Async != nil:
		r.async = n.Async
	case n.Lost != nil:
		r.lose(*n.Lost)
	case n.Move != nil:
		r.moves = append(r.moves, *n.Move)
	case n.Note != "":
		r.say(n.Note)
	case n.Data != nil:
		r.data[rank] = *n.Data
	}
}

// loseWorker takes that the run goes on without a worker.
func (r *heard) loseWorker(e *cluster.WorkerError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lostWorkers = append(r.lostWorkers, record.LostWorker{Rank: e.Rank, Cause: e.Error()})
	r.warn(fmt.Sprintf("warning: %v; the run goes on without it, and others take its batches", e))
}

// lose takes that a file ends early.
func (r *heard) lose(l record.Lost) {
	r.lost = append(r.lost, l)
	r.warn(fmt.Sprintf("warning: %v; the run goes on without", l))
}

// keepEvaluation adds an evaluation to the file of a run that has a directory, unless the file was lost.
func (r *heard) keepEvaluation(e record.Evaluation) {
	if r.dir == "" || r.hasLost(rundir.EvaluationsFile) {
		return
	}
	if err := r.dir.AddEvaluation(e); err != nil {
		r.lose(record.Lost{Rank: e.Rank, File: rundir.EvaluationsFile, Reason: err.Error()})
	}
}

// hasLost reports whether some rank stopped writing the file.
func (r *heard) hasLost(file string) bool {
	return slices.ContainsFunc(r.lost, func(l record.Lost) bool { return l.File == file })
}

// keepPart keeps a part of a file of a rank that is away. After an error it keeps no further part of the
// file, which would follow on a gap.
func (r *heard) keepPart(rank int, p job.Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	isOf := func(l record.Lost) bool { return l.Rank == rank && l.File == p.Name }
	if slices.ContainsFunc(r.lost, isOf) {
		return
	}
	if err := r.keep(p); err != nil {
		r.lose(record.Lost{Rank: rank, File: p.Name, Reason: err.Error()})
	}
}

// checkData returns an error if two workers have loaded different samples; it names the first other worker.
func (r *heard) checkData(rank int) error {
	h, isTold := r.data[rank]
	for _, other := range slices.Sorted(maps.Keys(r.data)) {
		its := r.data[other]
		if isTold && h.Model != its.Model {
			reason := fmt.Sprintf("the file of rank %d has sha256 %.16s, that of rank %d %.16s", rank,
				h.Model, other, its.Model)
			return &data.FormatError{File: r.network, Offset: -1, Reason: reason,
				Next: "every worker needs the same file"}
		}
		if isTold && h != its {
			return &data.FormatError{File: r.source, Offset: -1, Next: r.remedy, Reason: fmt.Sprintf(
				"training and test samples of rank %d have %v, those of rank %d %v", rank, h, other, its)}
		}
	}
	return nil
}

// decode handles a notice of a worker process. An error ends the run.
func (r *heard) decode(rank int, text json.RawMessage) error {
	var n job.Notice
	if err := json.Unmarshal(text, &n); err != nil {
		return fmt.Errorf("job: decode a notice of rank %d: %w", rank, err)
	}
	if n.Part != nil {
		r.keepPart(rank, *n.Part)
		return nil
	}
	r.take(rank, n)
	return r.checkData(rank)
}
