package worker

import (
	"fmt"
	"slices"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/snapshot"
	"lockstep/app/record"
	"lockstep/app/setting"
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

// exchange is what a worker asks its exchange of gradients or weights.
type exchange interface {
	Buckets() []gradsync.Bucket
	Exposed() comm.Split
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

// outerConfig returns when and how the workers of c average their weights.
func outerConfig(c setting.Config) train.OuterConfig {
	lr, momentum := c.Outer()
	return train.OuterConfig{Every: c.AverageEvery, Parts: c.OuterParts, Overlap: c.OuterOverlap,
		LR: lr, Momentum: momentum}
}

// joinAverages makes the updater of a worker that updates its own weights and averages them. What it
// averages is one vector of each worker, so the group's plan has one shard for each.
func (w *Worker) joinAverages(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if !w.Config.Averages() && w.Mesh == nil {
		return train.NewLocal(l)
	}
	if w.Mesh == nil {
		w.Mesh = comm.NewLocal(1)[0]
	}
	plan, err := shard.Cut(w.Config.Workers, w.Config.Workers)
	if err != nil {
		return nil, err
	}
	if err := w.meet(plan); err != nil {
		return nil, err
	}
	c, perEpoch := outerConfig(w.Config), w.Config.StepsPerEpoch(w.Task.Train.Len())
	s, err := gradsync.NewOuter(gradsync.OuterConfig{Group: w.group, Wire: w.Config.GradientWire(),
		Parts: c.Ranges(len(l.Variables().Weights)), Track: r.Track("exchange")})
	if err != nil {
		return nil, err
	}
	w.exchange = s
	u, err := train.NewOuter(l, c, s)
	if err == nil && w.peers != nil {
		w.peers.Group = w.group
		w.peers.Outer = &snapshot.Outer{Group: w.group, Updater: u, Meets: func(done int) bool {
			return c.IsMeeting(done, perEpoch)
		}}
	}
	return u, err
}

// noteMove notes how shards move between workers, and why.
func (w *Worker) noteMove(m *train.Move) {
	w.Announce(moveText(m))
	if w.Rank > 0 {
		return
	}
	found := record.Move{Step: m.Step, From: m.From, To: m.To, Before: m.Before, After: m.After,
		Best: m.Best, Noise: m.Noise, Ideal: m.Ideal}
	for _, s := range m.Speeds {
		found.ShardSeconds = append(found.ShardSeconds, s.Each)
		found.FixedSeconds = append(found.FixedSeconds, s.Fixed)
	}
	w.moves = append(w.moves, found)
	w.Tell(job.Notice{Move: &found})
}

// moveText says what moved, when and why.
func moveText(m *train.Move) string {
	text := fmt.Sprintf("step %d: shards move, by worker from %d to %d", m.Step, m.From, m.To)
	if slices.Equal(m.From, m.To) {
		text = fmt.Sprintf("step %d: shards stay, by worker %d", m.Step, m.From)
	}
	each := make([]float64, len(m.Speeds))
	for i, s := range m.Speeds {
		each[i] = 1e3 * s.Each
	}
	return fmt.Sprintf("%s: a shard takes %.3g ms, the slowest worker %.4g ms before, %.4g ms from now on, "+
		"%.4g ms if shards could be divided", text, each, 1e3*m.Before, 1e3*m.After, 1e3*m.Ideal)
}
