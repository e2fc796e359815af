package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/train"
)

// assignment is the launcher's message to a worker process: the run to do.
type assignment struct {
	Config    setting.Config   `json:"config"`
	Directory rundir.Directory `json:"directory"`
	// Crowded is decided by the launcher, because a worker bound to its own cores does not see the others.
	Crowded bool      `json:"crowded"`
	Folder  string    `json:"folder"` // the launcher's current one
	Start   beginning `json:"start"`
	Probes  bool      `json:"probes"` // see Options
	Hosts   []int     `json:"hosts"`  // number of each rank's host; nil: all have the launcher's files
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
	if isA[*cluster.CutOffError](cause) {
		return cause
	}
	return fmt.Errorf("rank %d: %w", rank, cause)
}

// hello describes this process.
func hello(e cluster.Environment) cluster.Hello {
	h := cluster.Hello{PID: os.Getpid(), Host: e.HostName()}
	for _, isa := range compute.Supported() {
		h.ISA = append(h.ISA, isa.String())
	}
	return h
}

// failureOf is a worker's report of an error.
func failureOf(err error) cluster.Failure {
	failure := cluster.Failure{Status: ExitCode(err), Text: err.Error()}
	if lost := (*comm.PeerError)(nil); errors.As(err, &lost) {
		failure.Noticed, failure.Lost, failure.In = true, lost.Rank, lost.Mismatched()
	}
	return failure
}

// workIn carries out the assignment of the session, in the process of a guest if isGuest, and returns the
// result of a worker or a server.
func workIn(s *cluster.Session, rank int, e cluster.Environment, p Program, isGuest bool) (result any,
	err error) {
	var a assignment
	if err := json.Unmarshal(s.Welcome.Job, &a); err != nil {
		return nil, fmt.Errorf("job: decode the assignment: %w", err)
	}
	if isGuest {
		if err := a.settle(rank); err != nil {
			return nil, err
		}
	}
	if a.isAway(rank) {
		courier, err := a.settleAway(rank, func(n notice) { s.Tell(n) })
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, courier.close()) }()
	}
	a.Config.ISA, a.Config.Catalog = s.Welcome.ISA, p.Catalog
	if rank >= a.Config.Workers {
		return struct{}{}, a.serve(s, rank, e, p.Log)
	}
	return a.work(s, rank, e, p)
}

// work carries out the part of a worker.
func (a assignment) work(s *cluster.Session, rank int, e cluster.Environment, p Program) (
	result workerResult, err error) {
	ctx := s.Context()
	w := &worker{config: a.Config, dir: a.Directory, crowded: a.Crowded, rank: rank, log: p.Log,
		between: p.Between, beacon: newBeacon(), probes: a.Probes, hosts: s.Topology(), host: e.HostName(),
		generation: s.Generation(), encryption: s.Welcome.Encryption, workersHere: a.numHere(rank)}
	w.tell = func(n notice) { s.Tell(n) }
	defer w.beacon.follow(func(p cluster.Progress) { s.Report(p) })() // a lost launcher ends the context
	if a.isAway(rank) {
		remove, failed := a.fetch(s, rank)
		if failed != nil {
			return result, failed
		}
		defer func() { err = errors.Join(err, remove()) }()
		w.config = a.Config
	}
	if w.task, err = load(ctx, w.config, w.config.DataOptions(e), a.Start); err != nil {
		return result, err
	}
	w.tell(notice{Data: &w.task.hashes})
	if w.config.World() > 1 {
		w.beacon.enter(phaseLink)
		if w.mesh, err = s.Connect(ctx); err != nil {
			return result, err
		}
		w.streams = s.Streams()
	}
	w.beacon.enter(phaseSetUp)
	return w.run(ctx)
}

// serve carries out the part of a server.
func (a assignment) serve(s *cluster.Session, rank int, e cluster.Environment, log io.Writer) (err error) {
	p := &server{config: a.Config, dir: a.Directory, rank: rank, log: log, beacon: newBeacon(),
		host: e.HostName(), generation: s.Generation(), tell: func(n notice) { s.Tell(n) }}
	defer p.beacon.follow(func(p cluster.Progress) { s.Report(p) })()
	p.beacon.enter(phaseLink)
	if p.mesh, err = s.Connect(s.Context()); err != nil {
		return err
	}
	return p.run(s.Context())
}
