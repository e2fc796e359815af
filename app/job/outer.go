package job

import (
	"fmt"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
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
func (w *worker) joinAverages(l *train.Loop, r *trace.Recorder) (train.Updater, error) {
	if !w.config.Averages() && w.mesh == nil {
		return train.NewLocal(l)
	}
	if w.mesh == nil {
		w.mesh = comm.NewLocal(1)[0]
	}
	plan, err := shard.Cut(w.config.Workers, w.config.Workers)
	if err != nil {
		return nil, err
	}
	if err := w.meet(plan); err != nil {
		return nil, err
	}
	c, perEpoch := outerConfig(w.config), w.config.StepsPerEpoch(w.task.train.Len())
	w.noteRounds(c.Every, perEpoch)
	s, err := gradsync.NewOuter(gradsync.OuterConfig{Group: w.group, Wire: w.config.GradientWire(),
		Parts: c.Ranges(len(l.Variables().Weights)), Track: r.Track("exchange")})
	if err != nil {
		return nil, err
	}
	w.exchange = s
	u, err := train.NewOuter(l, c, s)
	if err == nil && w.peers != nil {
		w.peers.group = w.group
		w.peers.outer = &outerState{group: w.group, updater: u, meets: func(done int) bool {
			return c.IsMeeting(done, perEpoch)
		}}
	}
	return u, err
}

// noteRounds logs that rounds end with each epoch, if none is as long as asked for.
func (w *worker) noteRounds(every, perEpoch int) {
	if perEpoch >= every {
		return
	}
	text := fmt.Sprintf("averages: once in an epoch, which has %s, not every %d",
		spelling.Count(perEpoch, "step"), every)
	w.note("%s", text)
	if w.rank == 0 {
		w.beacon.notes <- text
	}
}

// averagesOf adds up what the workers of c averaged, from their buckets, which are the parts; nil if they
// averaged nothing.
func averagesOf(c setting.Config, ranks []record.RankStat) *record.Averages {
	if !c.Averages() {
		return nil
	}
	lr, momentum := c.Outer()
	a := &record.Averages{Every: c.AverageEvery, Parts: c.OuterParts, Overlap: c.OuterOverlap,
		LR: lr, Momentum: momentum}
	for _, r := range ranks {
		for _, b := range r.Buckets {
			a.Sent += b.Sent
			if r.Rank == 0 && b.Hidden != nil {
				a.Rounds = max(a.Rounds, b.Steps)
				a.Exposed += b.Exposed.Seconds
				a.Hidden += b.Hidden.Seconds
			}
		}
	}
	return a
}

// lossOf returns the mean of the workers' own losses, by their samples.
func lossOf(ranks []record.RankStat) record.Loss {
	var sum record.Loss
	samples := 0.0
	for _, r := range ranks {
		n := float64(r.Samples)
		sum.First, sum.Last, samples = sum.First+n*r.Loss.First, sum.Last+n*r.Loss.Last, samples+n
	}
	return record.Loss{First: sum.First / max(samples, 1), Last: sum.Last / max(samples, 1)}
}
