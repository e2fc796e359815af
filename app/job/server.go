package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"lockstep/app/host"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
)

// server is a parameter server with a rank of its own, as a process or a goroutine.
type server struct {
	config setting.Config // complete, with the kernel path decided
	dir    rundir.Directory
	rank   int
	mesh   comm.Mesh
	host   string // its own
	// generation is how often the job was started before, which all frames carry.
	generation uint32
	tell       func(notice)
	log        io.Writer // for people
	lost       losses
	beacon     *beacon
}

// number returns the server's number.
func (s *server) number() int { return s.rank - s.config.Workers }

// note writes a line to the server's log. It ignores errors, as that of a worker does.
func (s *server) note(format string, args ...any) {
	fmt.Fprintf(s.log, "%s: "+format+"\n", append([]any{cluster.Name(s.rank, s.config.Workers)}, args...)...)
}

// runLogged serves in this process with a log file of its own.
func (s *server) runLogged(ctx context.Context) error {
	log, err := openLog(s.dir.ServerLog(s.number()))
	if err != nil {
		return fmt.Errorf("job: log: %w", err)
	}
	s.log = log
	if err = s.run(ctx); err != nil {
		s.note("%v", err)
	}
	_ = log.Close() // as in note
	return err
}

// run serves until all workers have left. It owns s.mesh.
func (s *server) run(ctx context.Context) (err error) {
	post := comm.NewPost(s.mesh, postConfig(s.config, s.generation))
	defer func() { err = errors.Join(err, post.Close()) }()
	defer whenCancelled(ctx, func() {
		if !finishesStep(ctx, s.config) {
			post.Shutdown()
		}
	})()
	s.beacon.watch(post)
	s.beacon.enter(phaseSetUp)
	b, err := receiveBlueprint(post)
	if err != nil {
		return err
	}
	layout, err := b.layout(s.config)
	if err != nil {
		return err
	}
	recorder := newRecorder(s.config, s.rank)
	p, err := newServant(s.config, post, layout, b, s.number(), s.beacon,
		outlet{s.dir, s.tell, s.lose}, recorder)
	if err != nil {
		return err
	}
	s.note("pid %d, kernels %s, %d of %d weights", os.Getpid(), s.config.ISA, p.stat.Elements, b.Len)
	s.beacon.serve(p.rule)
	before := host.CoresNow()
	err = p.Serve()
	p.book.close()
	if err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	s.lose(rundir.TraceFile, keepRecording(s.dir, s.rank, recorder))
	stat := p.result(post, s.host)
	stat.PeakRSSBytes, stat.Cores = host.PeakMemory(), host.CoresSince(before)
	stat.PlannedBytes = p.planned + processBytes/s.sharers()
	s.tell(notice{Server: &stat})
	s.note("done: %d updates, %d bytes sent, %d received", stat.Updates, stat.BytesSent, stat.BytesReceived)
	return nil
}

// sharers is that of a worker.
func (s *server) sharers() int64 {
	if s.config.IsOneProcess() {
		return int64(s.config.World())
	}
	return 1
}
