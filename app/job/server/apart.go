package server

import (
	"context"
	"errors"
	"os"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/comm"
)

// Apart is a parameter server with a rank of its own, as a process or a goroutine.
type Apart struct{ job.Seat }

// number returns the server's number.
func (s *Apart) number() int { return s.Rank - s.Config.Workers }

// Run serves until all workers have left. It owns s.Mesh.
func (s *Apart) Run(ctx context.Context) (err error) {
	post := comm.NewPost(s.Mesh, PostConfig(s.Config, s.Generation))
	defer func() { err = errors.Join(err, post.Close()) }()
	defer job.WhenCancelled(ctx, func() {
		if !job.FinishesStep(ctx, s.Config) {
			post.Shutdown()
		}
	})()
	s.Beacon.Watch(post)
	s.Beacon.Enter(job.PhaseSetUp)
	b, err := receiveBlueprint(post)
	if err != nil {
		return err
	}
	layout, err := b.Layout(s.Config)
	if err != nil {
		return err
	}
	recorder := job.NewRecorder(s.Config, s.Dir, s.Rank)
	p, err := New(&s.Seat, post, layout, b, s.number(), s.Beacon, recorder)
	if err != nil {
		return err
	}
	s.Note("pid %d, kernels %s, %d of %d weights", os.Getpid(), s.Config.ISA, p.stat.Elements, b.Len)
	s.Beacon.Serve(p.rule.steps)
	before := host.CoresNow()
	err = p.Serve()
	p.Book.Close()
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	recorder.SetSkew(s.Skew())
	s.Lose(rundir.SpansFolder, recorder.Close())
	stat := p.Result(post, s.Host)
	stat.PeakRSSBytes, stat.Cores = host.PeakMemory(), host.CoresSince(before)
	stat.PlannedBytes = p.Planned + ProcessBytes/s.Sharers()
	s.Tell(job.Notice{Server: stat})
	s.Note("done: %d updates, %d bytes sent, %d received", stat.Updates, stat.BytesSent, stat.BytesReceived)
	return nil
}
