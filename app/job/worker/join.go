package worker

import (
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/trace"
	"lockstep/train"
)

// wiring is how a worker is joined to its peers.
type wiring struct {
	hosts      comm.Topology
	encryption cluster.Encryption // of its links
	streams    int                // of its links by TCP; 0: it has none

	links    job.Links         // nil without mesh
	group    *comm.Group       // the links, if they are for collectives
	exchange exchange          // nil without one
	served   *served           // nil without servers
	spent    comm.Count        // what measuring the links exchanged, which is not the run's
	tuning   *comm.Tuning      // measurements behind "auto"; nil: the algorithm was given
	wire     *gradsync.Verdict // nil: gradients travel as they are, or exactly
}

// exchange is what a worker asks its exchange of gradients or weights at the end.
type exchange interface {
	Buckets() []gradsync.Bucket
	Close() error
}

// traffic returns the bytes exchanged so far, without those that measured the links.
func (x *wiring) traffic() (sent, received int64) {
	if x.links == nil {
		return 0, 0
	}
	total := x.links.Counters().Total().Less(x.spent)
	return total.Sent, total.Received
}

// vectors returns the bytes sent so far, counted without compression.
func (x *wiring) vectors() int64 {
	if x.links == nil {
		return 0
	}
	n := x.links.Counters().Total().Less(x.spent).Vector
	if x.exchange != nil {
		for _, b := range x.exchange.Buckets() {
			n += b.Spared
		}
	}
	return n
}

// join joins a worker to its peers, if it has any: it makes the exchange and the updater of l's weights.
type join = func(w *Worker, l *train.Loop, r *trace.Recorder) (train.Updater, error)

// joinOf returns the way in which workers join that exchange something.
func joinOf(e strategy.Exchange) join {
	return map[strategy.Exchange]join{
		strategy.Nothing:   (*Worker).joinNobody,
		strategy.Gradients: (*Worker).joinGroup,
		strategy.Averages:  (*Worker).joinAverages,
		strategy.Updates:   (*Worker).joinServers,
	}[e]
}

// isLocal reports whether this worker's updater is that of a worker that exchanges nothing, see the functions
// below. A program's own one may ask for gradients.
func (w *Worker) isLocal() bool {
	if w.between != nil || w.Config.NumServers() > 0 {
		return false
	}
	isJoining := strategy.Named(w.Config.Strategy).Exchange != strategy.Nothing && w.Mesh != nil
	return !isJoining && !w.Config.Averages()
}

// joinNobody makes the updater of a worker that exchanges nothing.
func (w *Worker) joinNobody(l *train.Loop, _ *trace.Recorder) (train.Updater, error) {
	if w.Probes && w.Mesh != nil {
		if err := w.meet(w.plan); err != nil {
			return nil, err
		}
	}
	return train.NewLocal(l)
}

// joinGroup makes the updater of a worker that exchanges gradients in a group, with shards that move between
// its workers on request.
func (w *Worker) joinGroup(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if w.Mesh == nil {
		return train.NewLocal(l)
	}
	if err := w.meet(w.plan); err != nil {
		return nil, err
	}
	u, err := w.joinEquals(l, r)
	if err != nil || !w.Config.IsBalanced() {
		return u, err
	}
	return train.NewBalanced(l, u, w.exchange.(gradsync.Exchange), w.noteMove) // joinEquals has made it
}

// joinEquals makes the updater of a worker of the group, and the exchange of its gradients.
func (w *Worker) joinEquals(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	c, err := w.exchangeConfig(l, r)
	if err != nil {
		return nil, err
	}
	switch name := w.Config.Strategy; {
	case w.Config.IsSharded():
		s, err := gradsync.NewSharded(c)
		if err != nil {
			return nil, err
		}
		w.exchange = s
		w.peers.Join(w.group, s)
		w.peers.Collect = s.Collect
		return train.NewSharded(l, s)
	case w.Config.IsLate():
		s, err := gradsync.NewLate(c)
		if err != nil {
			return nil, err
		}
		w.exchange = s
		return train.NewLate(l, s)
	default:
		if w.Config.EvalOnly { // only counts are added up
			name = gradsync.AllReduce
		}
		s, err := gradsync.New(name, c)
		if err != nil {
			return nil, err
		}
		w.exchange = s
		if w.peers != nil {
			w.peers.Join(w.group, s)
		}
		return train.NewWhole(l, s)
	}
}

// meet makes the group of all workers, which each contribute the pieces of plan to a sum. With algorithm
// "auto" the group measures its links.
func (w *Worker) meet(plan shard.Plan) error {
	adder, err := job.OpenCPU(w.Config, 1, false) // of the group's own thread
	if err != nil {
		return err
	}
	rows := row.On(adder)
	w.group, err = comm.NewGroup(w.Mesh, comm.Config{Plan: plan, Topology: w.hosts,
		Algorithm: w.Config.Algorithm, Generation: w.Generation,
		Timeout: job.Preparing, // the launcher notices a stuck worker earlier
		Add:     func(dst, src []float32) { rows.Add(dst, dst, src) }})
	if err != nil {
		return err
	}
	w.links = w.group
	w.Beacon.Watch(w.links)
	if !w.Config.IsTuning() && !w.Probes {
		return nil
	}
	tuning, err := w.group.Tune()
	if err != nil {
		return err
	}
	w.spent = w.group.Counters().Total()
	w.tuning = &tuning
	w.Note("%v", w.tuning)
	return nil
}

// gather waits until all workers of the group are ready for their first step, so that none of their clocks
// counts how much longer another one takes to get there. Workers of servers wait for each other in that step.
func (w *Worker) gather() error {
	if w.group == nil {
		return nil
	}
	before := w.group.Counters().Total()
	err := w.group.Barrier()
	w.spent.Add(w.group.Counters().Total().Less(before))
	return err
}

// segmentsOf returns the places of l's parameters in the flat vector.
func segmentsOf(l *train.Loop) []gradsync.Segment {
	segments := make([]gradsync.Segment, len(l.Variables().Segments))
	for i, p := range l.Parameters() {
		segments[i] = gradsync.Segment{Offset: p.Offset, Len: p.Len}
		if p.Kind != optim.Bias {
			segments[i].Rows, segments[i].Cols = p.Rows, p.Cols
		}
	}
	return segments
}

// exchangeConfig returns the configuration of the exchange of l's gradients. For a lossy wire it also
// measures the cost and the gain of every such wire over these links.
func (w *Worker) exchangeConfig(l *train.Loop, r *trace.Recorder) (gradsync.Config, error) {
	c := gradsync.Config{
		Group: w.group, Segments: segmentsOf(l), Order: l.Variables().Order, Pieces: l.Pieces(),
		BucketBytes: w.Config.Bucket, Wire: w.Config.GradientWire(), OnVerdict: w.noteWire,
		Track: r.Track("exchange"),
	}
	if c.Wire.IsLossy() {
		verdict, err := gradsync.Judge(c)
		if err != nil {
			return c, err
		}
		w.noteWire(verdict)
	}
	return c, nil
}

// tellBuckets sends the exchange times of each bucket to the launcher, if anything was exchanged.
func (w *Worker) tellBuckets(done train.Result) {
	if w.exchange == nil || len(done.StepTimes) == 0 {
		return
	}
	for _, b := range w.exchange.Buckets() {
		over := func(d time.Duration) record.Quantity {
			return record.Quantity{Seconds: d.Seconds(), StepSeconds: d.Seconds() / float64(max(1, b.Steps))}
		}
		stat := record.BucketStat{Parameters: len(b.Params), Bytes: 4 * int64(b.Hi-b.Lo), Steps: b.Steps,
			Sent: b.Sent, Received: b.Received, Exposed: over(b.Exposed)}
		if w.served == nil {
			hidden := over(b.Hidden)
			stat.Hidden = &hidden
		}
		w.Tell(job.Notice{Bucket: &stat})
	}
}
