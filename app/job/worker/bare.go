package worker

import (
	"errors"
	"io"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/shard"
	"lockstep/train"
)

// Bare calls use with the training loop of a replica that has neither launcher nor run directory, with the
// weights that it begins with. It is joined to its peers by mesh, which it owns and which is nil for one
// that exchanges nothing. Of c it reads what decides the bits of a run, and the number of threads.
func Bare(c setting.Config, t input.Task, rank int, mesh comm.Mesh, use func(*train.Loop) error) (err error) {
	w := &Worker{Task: t, Crowded: c.NumThreads() > host.Cores(), Seat: job.Seat{Config: c, Rank: rank,
		Mesh: mesh, Log: io.Discard,
		Beacon: job.NewBeacon(), Tell: func(job.Notice) {}}}
	defer func() { err = errors.Join(err, w.leave(err)) }()
	if w.plan, err = shard.Cut(c.StepShards(), c.Workers); err != nil {
		return err
	}
	defer w.processor.close()
	if err := w.openProcessor(); err != nil {
		return err
	}
	l, err := w.loop(nil)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := w.start(l.Variables()); err != nil {
		return err
	}
	return use(l)
}
