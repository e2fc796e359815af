package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/server"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/trace"
	"lockstep/train"
)

// Assignment is the launcher's message to a worker process: the run to do.
type Assignment struct {
	Config    setting.Config   `json:"config"`
	Directory rundir.Directory `json:"directory"`
	// Crowded is decided by the launcher, because a worker bound to its own cores does not see the others.
	Crowded bool        `json:"crowded"`
	Folder  string      `json:"folder"` // the launcher's current one
	Start   input.Start `json:"start"`
	Probes  bool        `json:"probes"` // see Options
	Hosts   []int       `json:"hosts"`  // number of each rank's host; nil: all have the launcher's files
}

// Program is what the process of a worker or a server gets from the program that it executes.
type Program struct {
	Catalog *setting.Catalog // the same as the launcher's
	Log     io.Writer        // receives a few lines for people
	// Abandon is called with the exit status, and must end the process, if the run ends because of another
	// worker while this one is in a long step.
	Abandon func(status int)
	Between Between // nil: nothing
}

// Between puts something between the training loop of a rank and its updater in a run of c: tests disturb a
// run there.
type Between func(c setting.Config, rank int, u train.Updater) train.Updater

// Work is the body of a worker's or a server's process. It reads its rank from e, joins the other processes,
// trains or serves, and sends the result to the launcher. It returns nil once the result is delivered. It
// reports an error to the launcher, if there is one, before it returns it.
func Work(ctx context.Context, e cluster.Environment, p Program) error {
	member, err := e.ResolveMember()
	if err != nil {
		return err
	}
	session, err := cluster.Join(ctx, member, hello(e))
	if err != nil {
		return err
	}
	defer session.Close()
	defer outlast(session.Context(), member.Rank, p.Log, p.Abandon)()
	result, err := workIn(session, member.Rank, e, p, false)
	if err == nil {
		return session.Done(result)
	}
	cause := context.Cause(session.Context())
	if cause == nil {
		cause = session.Fail(failureOf(err), err)
	}
	return causeOf(member.Rank, cause)
}

// causeOf returns the error of a rank, which begins with its number.
func causeOf(rank int, cause error) error {
	if job.IsA[*cluster.CutOffError](cause) {
		return cause
	}
	return fmt.Errorf("rank %d: %w", rank, cause)
}

// hello describes this process.
func hello(e cluster.Environment) cluster.Hello {
	return cluster.Hello{PID: os.Getpid(), Host: e.HostName()}
}

// failureOf is a worker's report of an error.
func failureOf(err error) cluster.Failure {
	failure := cluster.Failure{Status: job.ExitCode(err), Text: err.Error()}
	if lost := (*comm.PeerError)(nil); errors.As(err, &lost) {
		failure.Noticed, failure.Lost, failure.In = true, lost.Rank, lost.Mismatched()
	}
	return failure
}

// workIn carries out the assignment of the session, in the process of a guest if isGuest, and returns the
// result of a worker or a server.
func workIn(s *cluster.Session, rank int, e cluster.Environment, p Program, isGuest bool) (result any,
	err error) {
	var a Assignment
	if err := json.Unmarshal(s.Welcome.Job, &a); err != nil {
		return nil, fmt.Errorf("job: decode the assignment: %w", err)
	}
	if isGuest {
		if err := a.settle(rank); err != nil {
			return nil, err
		}
	}
	if a.isAway(rank) {
		courier, err := a.settleAway(rank, func(n job.Notice) { s.Tell(n) })
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, courier.close()) }()
	}
	a.Config.ISA, a.Config.Catalog = cmp.Or(e[cluster.EnvISA], a.Config.ISA), p.Catalog
	path, err := a.Config.KernelPath()
	if err != nil {
		return nil, fmt.Errorf("job: --isa: %w", err)
	}
	a.Config.ISA = path.String()
	if rank >= a.Config.Workers {
		return struct{}{}, a.serve(s, rank, e, p.Log)
	}
	return a.work(s, rank, e, p)
}

// seat returns what a rank has in this process.
func (a Assignment) seat(s *cluster.Session, rank int, e cluster.Environment, log io.Writer) job.Seat {
	return job.Seat{Config: a.Config, Dir: a.Directory, Rank: rank, Host: e.HostName(), Log: log,
		Generation: s.Generation(), Tell: func(n job.Notice) { s.Tell(n) }, Beacon: job.NewBeacon(),
		Clock: func() trace.Skew {
			skew, isKnown := s.Skew()
			return trace.Skew{Offset: skew.Offset, Error: skew.Error, IsKnown: isKnown}
		}}
}

// work carries out the part of a worker.
func (a Assignment) work(s *cluster.Session, rank int, e cluster.Environment, p Program) (
	result job.Result, err error) {
	ctx := s.Context()
	w := &Worker{Seat: a.seat(s, rank, e, p.Log), Crowded: a.Crowded, between: p.Between, Probes: a.Probes,
		wiring: wiring{hosts: s.Topology(), encryption: s.Welcome.Encryption}, WorkersHere: a.numHere(rank)}
	defer w.Beacon.Follow(func(p cluster.Progress) { s.Report(p) })() // a lost launcher ends the context
	if a.isAway(rank) {
		remove, failed := input.Fetch(s, rank, &a.Config, &a.Start)
		if failed != nil {
			return result, failed
		}
		defer func() { err = errors.Join(err, remove()) }()
		w.Config = a.Config
	}
	if w.Task, err = input.Load(ctx, w.Config, w.Config.DataOptions(e), a.Start); err != nil {
		return result, err
	}
	w.Tell(job.Notice{Data: &w.Task.Hashes})
	if w.Config.World() > 1 {
		w.Beacon.Enter(job.PhaseLink)
		if w.Mesh, err = s.Connect(ctx); err != nil {
			return result, err
		}
		w.streams = s.Streams()
	}
	w.Beacon.Enter(job.PhaseSetUp)
	return w.Run(ctx)
}

// serve carries out the part of a server.
func (a Assignment) serve(s *cluster.Session, rank int, e cluster.Environment, log io.Writer) (err error) {
	p := &server.Apart{Seat: a.seat(s, rank, e, log)}
	defer p.Beacon.Follow(func(p cluster.Progress) { s.Report(p) })()
	p.Beacon.Enter(job.PhaseLink)
	if p.Mesh, err = s.Connect(s.Context()); err != nil {
		return err
	}
	return p.Run(s.Context())
}

// lastWork is how long a worker may go on with its step after the run has ended because of another. It is
// less than the time after which the launcher kills it.
const lastWork = time.Second

// outlast ends the process of a rank that goes on with its step after the run has ended, or after it was cut
// off: it writes the cause to log, and calls abandon with the status. Stop is to be called when the rank has
// ended by itself.
func outlast(ctx context.Context, rank int, log io.Writer, abandon func(status int)) (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		cause := context.Cause(ctx)
		if job.ExitCode(cause) != job.ExitPeerLost {
			return // it was asked to stop, and may take its time
		}
		select {
		case <-ended:
		case <-time.After(lastWork):
			fmt.Fprintf(log, "lockstep: %v\n", causeOf(rank, cause))
			abandon(job.ExitPeerLost)
		}
	})
	return func() {
		close(ended)
		watching.Wait()
	}
}
