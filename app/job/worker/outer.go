package worker

import (
	"lockstep/app/job/snapshot"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
	"lockstep/trace"
	"lockstep/train"
)

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
