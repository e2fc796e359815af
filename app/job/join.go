package job

import (
	"lockstep/app/strategy"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/trace"
	"lockstep/train"
)

// join joins a worker to its peers, if it has any: it makes the exchange and the updater of l's weights.
type join = func(w *worker, l *train.Loop, r *trace.Recorder) (train.Updater, error)

// joinOf returns the way in which workers join that exchange something.
func joinOf(e strategy.Exchange) join {
	return map[strategy.Exchange]join{
		strategy.Nothing:   (*worker).joinNobody,
		strategy.Gradients: (*worker).joinGroup,
		strategy.Averages:  (*worker).joinAverages,
		strategy.Updates:   (*worker).joinServers,
	}[e]
}

// isLocal reports whether this worker's updater is that of a worker that exchanges nothing, see the functions
// below. A program's own one may ask for gradients.
func (w *worker) isLocal() bool {
	if w.between != nil || w.config.NumServers() > 0 {
		return false
	}
	isJoining := strategy.Named(w.config.Strategy).Exchange != strategy.Nothing && w.mesh != nil
	return !isJoining && !w.config.Averages()
}

// joinNobody makes the updater of a worker that exchanges nothing.
func (w *worker) joinNobody(l *train.Loop, _ *trace.Recorder) (train.Updater, error) {
	if w.probes && w.mesh != nil {
		if err := w.meet(w.plan); err != nil {
			return nil, err
		}
	}
	return train.NewLocal(l)
}

// joinGroup makes the updater of a worker that exchanges gradients in a group, with shards that move between
// its workers on request.
func (w *worker) joinGroup(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if w.mesh == nil {
		return train.NewLocal(l)
	}
	if err := w.meet(w.plan); err != nil {
		return nil, err
	}
	u, err := w.joinEquals(l, r)
	if err != nil || !w.config.IsBalanced() {
		return u, err
	}
	return train.NewBalanced(l, u, w.exchange.(gradsync.Exchange), w.noteMove) // joinEquals has made it
}

// joinEquals makes the updater of a worker of the group.
func (w *worker) joinEquals(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	switch {
	case w.config.IsSharded():
		return w.updateShares(l, r)
	case w.config.IsLate():
		return w.updateLate(l, r)
	}
	s, err := w.newStrategy(l, r)
	if err != nil {
		return nil, err
	}
	w.exchange = s
	if w.peers != nil {
		w.peers.join(w.group, s)
	}
	return train.NewWhole(l, s)
}

// updateShares makes the updater of --shard-optimizer.
func (w *worker) updateShares(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	config, err := w.exchangeConfig(l, r)
	if err != nil {
		return nil, err
	}
	s, err := gradsync.NewSharded(config)
	if err != nil {
		return nil, err
	}
	w.exchange = s
	w.peers.join(w.group, s)
	w.peers.collect = s.Collect
	return train.NewSharded(l, s)
}

// updateLate makes the updater of --overlap-forward.
func (w *worker) updateLate(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	config, err := w.exchangeConfig(l, r)
	if err != nil {
		return nil, err
	}
	s, err := gradsync.NewLate(config)
	if err != nil {
		return nil, err
	}
	w.exchange = s
	return train.NewLate(l, s)
}

// meet makes the group of all workers, which each contribute the pieces of plan to a sum. With algorithm
// "auto" the group measures its links.
func (w *worker) meet(plan shard.Plan) error {
	adder, err := openCPU(w.config, 1, false) // of the group's own thread
	if err != nil {
		return err
	}
	rows := row.On(adder)
	w.group, err = comm.NewGroup(w.mesh, comm.Config{Plan: plan, Topology: w.hosts,
		Algorithm: w.config.Algorithm, Generation: w.generation,
		Timeout: preparing, // the launcher notices a stuck worker earlier
		Add:     func(dst, src []float32) { rows.Add(dst, dst, src) }})
	if err != nil {
		return err
	}
	w.links = w.group
	w.beacon.watch(w.links)
	if !w.config.IsTuning() && !w.probes {
		return nil
	}
	tuning, err := w.group.Tune()
	if err != nil {
		return err
	}
	w.spent = w.group.Counters().Total()
	w.tuning = &tuning
	w.note("%v", w.tuning)
	return nil
}

// gather waits until all workers of the group are ready for their first step, so that none of their clocks
// counts how much longer another one takes to get there. Workers of servers wait for each other in that step.
func (w *worker) gather() error {
	if w.group == nil {
		return nil
	}
	before := w.group.Counters().Total()
	err := w.group.Barrier()
	w.spent.Add(w.group.Counters().Total().Less(before))
	return err
}

// newStrategy makes the strategy that sends gradients.
func (w *worker) newStrategy(l *train.Loop, r *trace.Recorder) (gradsync.Strategy, error) {
	config, err := w.exchangeConfig(l, r)
	if err != nil {
		return nil, err
	}
	switch {
	case w.config.TuneBucket:
		return gradsync.NewTuned(config, w.noteTrials)
	case w.config.EvalOnly: // only counts are added up
		return gradsync.New(gradsync.AllReduce, config)
	}
	return gradsync.New(w.config.Strategy, config)
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
func (w *worker) exchangeConfig(l *train.Loop, r *trace.Recorder) (gradsync.Config, error) {
	c := gradsync.Config{
		Group: w.group, Segments: segmentsOf(l), Order: l.Variables().Order, Pieces: l.Pieces(),
		BucketBytes: w.config.Bucket, Wire: w.config.GradientWire(), OnVerdict: w.noteWire,
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
