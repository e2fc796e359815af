package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/data"
	"lockstep/internal/tail"
)

// notice is a message of a worker to the launcher about one event, so that no message grows with the length
// of the run or the size of the model. Exactly one field is set.
type notice struct {
	Evaluation *record.Evaluation `json:"evaluation,omitempty"` // from rank 0 alone, if ranks exchange
	Bucket     *record.BucketStat `json:"bucket,omitempty"`     // at the end, in the order of buckets
	Lost       *record.Lost       `json:"lost,omitempty"`
	Move       *record.Move       `json:"move,omitempty"`   // from rank 0 alone
	Growth     *record.Growth     `json:"growth,omitempty"` // from rank 0 alone
	Data       *record.DataHash   `json:"data,omitempty"`   // hash of the loaded samples
	Server     *record.ServerStat `json:"server,omitempty"` // at its end
	Async      *record.Async      `json:"async,omitempty"`  // of server 0, at its end
	Part       *tail.Part         `json:"part,omitempty"`   // of a file of a rank that is away
	Note       string             `json:"note,omitempty"`   // a line for people, from rank 0
	LostWorker *record.LostWorker `json:"-"`                // of the launcher
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
	unkept      map[rankFile]bool // files of ranks that are away, of which no further part is kept
	moves       []record.Move
	growth      []record.Growth
	data        map[int]record.DataHash // by rank; empty if the workers share one process and its data
	isLab       bool                    // all hosts are this machine
	coreShare   float64                 // of a core, for each compute thread
	source      string                  // what the workers load, and what makes them load the same
	remedy      string
	warn, say   func(text string)
	show        func(record.Evaluation)
}

// newHeard returns the state of a run of c, resumed from there or, if that is nil, new. It passes notes
// and evaluations on to o.
func newHeard(c setting.Config, from *resumption, o Options) *heard {
	r := &heard{buckets: map[int][]record.BucketStat{}, data: map[int]record.DataHash{},
		unkept: map[rankFile]bool{},
		source: c.Data, remedy: "every worker needs the same files", warn: o.warn, say: o.say, show: o.show,
		isLab: o.Environment[cluster.EnvLab] != "", coreShare: o.coreShare(c)}
	if c.Datasets().IsOwn(c.Data) {
		r.remedy = "its function must return the same samples in every worker; is it seeded?"
	}
	if from != nil {
		r.evaluations = slices.Clone(from.Kept.Evaluations)
		r.moves, r.growth = slices.Clone(from.Kept.Moves), slices.Clone(from.Kept.Growth)
	}
	return r
}

// take handles a notice.
func (r *heard) take(rank int, n notice) {
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
	case n.LostWorker != nil:
		r.lostWorkers = append(r.lostWorkers, *n.LostWorker)
		r.warn(lostText(*n.LostWorker))
	case n.Lost != nil:
		r.lose(*n.Lost)
	case n.Move != nil:
		r.moves = append(r.moves, *n.Move)
	case n.Growth != nil:
		r.growth = append(r.growth, *n.Growth)
	case n.Note != "":
		r.say(n.Note)
	case n.Data != nil:
		r.data[rank] = *n.Data
	}
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
func (r *heard) keepPart(rank int, p tail.Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file := rankFile{rank, p.Name}
	if r.unkept[file] {
		return
	}
	if err := r.keep(p); err != nil {
		r.unkept[file] = true
		r.lose(record.Lost{Rank: rank, File: p.Name, Reason: err.Error()})
	}
}

// rankFile is a file of a rank.
type rankFile struct {
	rank int
	name string
}

// checkData returns an error if two workers have loaded different samples.
func (r *heard) checkData(rank int) error {
	h, isTold := r.data[rank]
	for other, its := range r.data {
		if isTold && h != its {
			return &data.FormatError{File: r.source, Offset: -1, Next: r.remedy, Reason: fmt.Sprintf(
				"training and test samples of rank %d have %v, those of rank %d %v", rank, h, other, its)}
		}
	}
	return nil
}

// decode handles a notice of a worker process. An error ends the run.
func (r *heard) decode(rank int, text json.RawMessage) error {
	var n notice
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
